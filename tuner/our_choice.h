#pragma once
#include <string>

#include "results/store.h"
#include "tuner/record.h"

namespace loopbrick {

/// The schedule that a comparison runs for us, and where it comes from.
struct OurChoice {
  std::string schedule;  ///< empty: no schedule can run the problem
  std::string origin;    ///< "tuned", "imported" or "model"
};

/// best_known, without one what was imported (tuner/stored_wisdom.h), without that the model's
/// first_choice (tuner/known_schedule.h).
OurChoice our_choice(const TrialContext& context, std::uint64_t seed, Store& store);

}  // namespace loopbrick
