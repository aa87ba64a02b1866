#include "tuner/known_schedule.h"

#include "kernels/text.h"
#include "loops/plan.h"
#include "tuner/problem_space.h"
#include "tuner/ranking.h"

namespace loopbrick {

bool still_runs(const TrialContext& context, const std::string& schedule) {
  try {
    return !why_not(context.problem, parse_schedule(schedule), context.conditions);
  } catch (const ParseError&) {
    return false;
  }
}

std::optional<TrialRecord> best_known(const TrialContext& context, const Store& store) {
  for (const auto find : {&Store::best, &Store::best_unconfirmed}) {
    for (const bool any_build : {false, true}) {
      auto best = (store.*find)(key_of(context, any_build));
      if (best && still_runs(context, best->choice)) return best;
    }
  }
  return std::nullopt;
}

std::optional<std::string> first_choice(const TrialContext& context, std::uint64_t seed) {
  const Space space = problem_space(context.problem, context.conditions, context.station.machine,
                                    context.station.limits);
  const std::vector<Ranked> ranked = ranking(space, seed);
  if (ranked.empty()) return std::nullopt;
  return space.text(ranked.front().point);
}

}  // namespace loopbrick
