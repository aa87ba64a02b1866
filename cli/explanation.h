#pragma once
#include <cstdint>
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

/// What one run of a schedule costs, known without running it: over all threads, bytes and seconds
/// by the model.
struct ScheduleCosts {
  double executed_flops = 0.0;
  std::int64_t calls = 0;
  std::int64_t barriers = 0;
  double l2_bytes = 0.0;    ///< between L1 and L2
  double l3_bytes = 0.0;    ///< between L2 and L3
  double dram_bytes = 0.0;  ///< between L3 and memory
  double imbalance = 1.0;   ///< work of the slowest thread over the mean
  double seconds = 0.0;
};

/// Errors  as explanation.
ScheduleCosts costs_of(const ExplainedRun& run, const Machine& machine, const Limits& limits);

/// The instructions of each of the run's kernels, under its spec.
///
/// Errors  as explanation, and what listing throws.
std::string kernel_listings(const ExplainedRun& run);

/// Errors  throws ParseError if nothing can run the problem.
void require_loops(const Problem& problem);

}  // namespace loopbrick
