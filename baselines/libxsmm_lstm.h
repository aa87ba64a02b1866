#pragma once
#include <variant>

#include "problems/implementation.h"
#include "problems/refusal.h"

namespace loopbrick {

/// The forward passes of an LSTM layer by libxsmm's cell: activations as the problem gives them,
/// weights in blocks of [c][k], as many of either up to 64 as divide them. Both passes keep the
/// gates and all cell states. Runnable::implementation and flag are left empty.
///
/// Needs   libxsmm is initialized.
/// Errors  throws std::bad_alloc.
std::variant<Runnable, Refusal> libxsmm_lstm(const Problem& problem, const Conditions& conditions);

}  // namespace loopbrick
