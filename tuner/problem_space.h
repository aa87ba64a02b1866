#pragma once
#include "measure/machine.h"
#include "problems/conditions.h"
#include "problems/problem.h"
#include "tuner/space.h"

namespace loopbrick {

/// All schedules that are tried for a problem under these conditions, with the model as `predict`.
///
/// A problem without loops has a space whose empty prefix is refused, with the reason.
Space problem_space(const Problem& problem, const Conditions& conditions, const Machine& machine,
                    const Limits& limits);

}  // namespace loopbrick
