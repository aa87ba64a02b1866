#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tuner/strategy.h"
#include "tuner/timing_table.h"

namespace loopbrick {

struct RehearsalPlan {
  std::uint64_t seed = 1;
  std::size_t trials = 100;  ///< different schedules that may be asked about
  double noise = 0.01;       ///< standard deviation of the log of an answer, as on a live machine
};

/// A strategy on a table instead of the machine: its regret after the first, second, ... trial.
///
/// A trial is a schedule that was not asked about before: to measure what was screened costs no
/// second one. After each, the fastest few by what the strategy was told are the finalists, as in a
/// tune; regret is the best of their times in the table over the best time of the table, minus 1.
/// Infinite while nothing was measured. Ends early where the strategy does.
std::vector<double> rehearse(const TimingTable& table, const StrategyRow& strategy,
                             const RehearsalPlan& plan);

}  // namespace loopbrick
