#pragma once
#include "results/trial.h"
#include "trials/bench.h"
#include "tuner/record.h"

namespace loopbrick {

/// Checks the arm and times it in rounds; the record to store, its samples confirming ones.
///
/// Errors  what Bench throws.
TrialRecord take_trial(const TrialContext& context, const Arm& arm, const RoundPlan& plan,
                       const BenchOptions& options);

}  // namespace loopbrick
