#pragma once
#include <string>
#include <vector>

#include "problems/conditions.h"
#include "problems/problem.h"
#include "results/store.h"
#include "results/trial.h"
#include "trials/bench.h"
#include "tuner/station.h"

namespace loopbrick {

/// The name of our own row of the table of implementations.
inline constexpr const char* kOurs = "loopbrick";

/// Median with its 99 % interval, minimum, processes. No samples give n = 0.
Measured summarize(const std::vector<Sample>& samples);

std::vector<TimedSample> timed_samples(const std::vector<Sample>& samples, bool confirming);

/// What all trials of one problem have in common.
struct TrialContext {
  Problem problem;
  Conditions conditions;
  Station station;
};

/// The row of an attempt. Its samples are those of a search, or with `confirming` those of a choice
/// already made.
TrialRecord trial_record(const TrialContext& context, const Arm& arm, const Attempt& attempt,
                         bool confirming);

/// The key of our trials of this problem; with `any_build` those of other builds too.
Store::Key key_of(const TrialContext& context, bool any_build);

}  // namespace loopbrick
