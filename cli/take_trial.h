#pragma once
#include <optional>

#include "results/trial.h"
#include "trials/bench.h"
#include "tuner/record.h"

namespace loopbrick {

/// Checks the arm and times it in rounds; the record to store, its samples confirming ones.
/// Nothing, and a line on stderr that says so, if the plan was stopped before all rounds were run.
///
/// Errors  what Bench throws.
std::optional<TrialRecord> take_trial(const TrialContext& context, const Arm& arm,
                                      const RoundPlan& plan, const BenchOptions& options);

}  // namespace loopbrick
