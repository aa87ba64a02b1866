#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "results/store.h"
#include "results/trial.h"
#include "tuner/record.h"

namespace loopbrick {

/// Can this build read and run a stored schedule?
bool still_runs(const TrialContext& context, const std::string& schedule);

/// The fastest confirmed trial of ours in the store: of this build, or else of any. Where nothing
/// is confirmed, since a tune was stopped, the fastest of its search.
///
/// A stored schedule that this build no longer reads or runs is passed over.
std::optional<TrialRecord> best_known(const TrialContext& context, const Store& store);

/// The schedule that the model ranks first, unmeasured; nothing if no schedule can run the problem.
std::optional<std::string> first_choice(const TrialContext& context, std::uint64_t seed);

}  // namespace loopbrick
