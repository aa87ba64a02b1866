#include "cli/take_trial.h"

#include "measure/statistics.h"
#include "tuner/record.h"

namespace loopbrick {

TrialRecord take_trial(const TrialContext& context, const Arm& arm, const RoundPlan& plan,
                       const BenchOptions& options) {
  Bench bench(context.problem, context.conditions, options);
  const Rounds rounds = bench.rounds({&arm, 1}, plan);
  TrialRecord record = trial_record(context, arm, rounds.arms.front(), true);
  if (!rounds.peak_flops.empty()) record.peak_flops = median(rounds.peak_flops);
  return record;
}

}  // namespace loopbrick
