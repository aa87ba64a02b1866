#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/explanation.h"
#include "results/trial.h"
#include "trials/bench.h"
#include "tuner/record.h"

namespace loopbrick {

/// What is known of one arm.
struct Side {
  Arm arm;
  std::optional<ScheduleCosts> costs;  ///< of one of our schedules, not of other implementations
  std::optional<TrialRecord> stored;   ///< the latest good trial of it with this build
  std::optional<Counted> counted;      ///< if it was run for the counters
};

/// Whose sides are wanted. With counters the arms are run, for a fifth of a second each.
struct SidesRequest {
  TrialContext context;
  std::vector<Arm> arms;
  std::string database;
  bool has_counters = false;
  bool no_lock = false;
};

/// Errors  throws ParseError if a schedule cannot run the problem, and what Store and Bench throw.
std::vector<Side> find_sides(const SidesRequest& request);

}  // namespace loopbrick
