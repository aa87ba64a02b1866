#pragma once
#include <variant>

#include "problems/implementation.h"
#include "problems/refusal.h"

namespace loopbrick {

/// The padding of a convolution: copied inside the run, or part of the tensor as it lies.
enum class LibxsmmRim { copied, stored };

/// The three passes of a convolution in the blocked layouts that libxsmm picks.
/// Runnable::implementation and flag are left empty.
///
/// Needs   libxsmm is initialized; why_no_baseline found no reason against the problem.
/// Errors  throws std::bad_alloc.
std::variant<Runnable, Refusal> libxsmm_conv(const Problem& problem, const Conditions& conditions,
                                             LibxsmmRim rim);

}  // namespace loopbrick
