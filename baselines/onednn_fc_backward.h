#pragma once
#include "baselines/onednn_execution.h"
#include "problems/implementation.h"

namespace loopbrick {

/// A backward pass of an inner product behind an activation: `layer`, which onednn_fc made of the
/// problem, after oneDNN's own primitive for the activation's derivative. dy and what the
/// activation keeps lie as the inner product wants its gradient. Runnable::flag is left empty.
///
/// Errors  throws dnnl::error where oneDNN has no such primitive, std::bad_alloc.
Runnable onednn_fc_behind_activation(const Recipe& layer, const Problem& problem,
                                     const Conditions& conditions);

}  // namespace loopbrick
