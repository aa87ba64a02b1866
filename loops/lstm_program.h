#pragma once
#include <memory>

#include "kernels/kernel_cache.h"
#include "loops/program.h"
#include "loops/schedule.h"
#include "problems/conditions.h"
#include "problems/problem.h"

namespace loopbrick {

/// All steps of an LSTM's pass. Activations, states and biases are plain; w and r lie as the steps
/// of the forward pass want them, backward (dw and dr too) in blocks of k as
/// [4][k / block][features][block].
///
/// Errors   throws std::invalid_argument with why_not's sentence, and what KernelCache::get throws.
std::unique_ptr<Program> make_lstm_program(const Problem& problem, const Schedule& schedule,
                                           const Conditions& conditions, KernelCache& kernels);

}  // namespace loopbrick
