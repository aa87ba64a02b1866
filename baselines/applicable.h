#pragma once
#include <optional>
#include <string_view>

#include "problems/operands.h"
#include "problems/problem.h"
#include "problems/refusal.h"

namespace loopbrick {

/// What no baseline does: another type than f32, post-ops on a gemm or on the way back of a
/// convolution, a choice.
std::optional<Refusal> why_no_baseline(const Problem& problem, std::string_view choice);

/// Whether something is done with the finished tile: a bias or an activation.
bool has_post_ops(const Problem& problem);

/// The array of operands(problem) that is called `name`; empty if the problem has none.
std::span<float> array_named(std::string_view name, const Problem& problem, const Arrays& arrays);

}  // namespace loopbrick
