#include "cli/take_trial.h"

#include <iostream>

#include "measure/statistics.h"
#include "tuner/record.h"

namespace loopbrick {

std::optional<TrialRecord> take_trial(const TrialContext& context, const Arm& arm,
                                      const RoundPlan& plan, const BenchOptions& options) {
  Bench bench(context.problem, context.conditions, options);
  const Rounds rounds = bench.rounds({&arm, 1}, plan);
  if (rounds.stopped) {
    std::cerr << "interrupted before all rounds were run; nothing of them is stored\n";
    return std::nullopt;
  }
  TrialRecord record = trial_record(context, arm, rounds.arms.front(), true);
  if (!rounds.peak_flops.empty()) record.peak_flops = median(rounds.peak_flops);
  return record;
}

}  // namespace loopbrick
