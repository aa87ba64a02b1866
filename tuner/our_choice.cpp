#include "tuner/our_choice.h"

#include "tuner/known_schedule.h"
#include "tuner/stored_wisdom.h"

namespace loopbrick {

OurChoice our_choice(const TrialContext& context, std::uint64_t seed, Store& store) {
  if (const auto known = best_known(context, store)) return {known->choice, "tuned"};
  if (const auto imported = imported_choice(context, store))
    return {imported->schedule, "imported"};
  return {first_choice(context, seed).value_or(std::string()), "model"};
}

}  // namespace loopbrick
