#pragma once
#include <string>

#include "loops/schedule.h"
#include "measure/machine.h"
#include "problems/conditions.h"
#include "problems/problem.h"

namespace loopbrick {

/// What is to be explained.
struct ExplainedRun {
  Problem problem;
  Schedule schedule;
  Conditions conditions;
};

/// The loops as pseudo-code, kernel calls, FLOPs counted and executed, and the model's time in its
/// parts.
///
/// Errors  throws ParseError if the schedule cannot run the problem. No operand is allocated.
std::string explanation(const ExplainedRun& run, const Machine& machine, const Limits& limits);

/// The instructions of each of the run's kernels, under its spec.
///
/// Errors  as explanation, and what listing throws.
std::string kernel_listings(const ExplainedRun& run);

/// Errors  throws ParseError if nothing can run the problem.
void require_loops(const Problem& problem);

}  // namespace loopbrick
