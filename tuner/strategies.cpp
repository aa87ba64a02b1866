#include <algorithm>
#include <array>

#include "kernels/text.h"
#include "tuner/strategy.h"

namespace loopbrick {

namespace {

constexpr std::array<StrategyRow, 7> kStrategies{{
    {"model", "the cost model ranks, measurements correct it, the best are varied",
     begin_model_led},
    {"halving",
     "the model's next sixteen are screened, the four fastest of them measured in a race",
     begin_halving},
    {"local", "the best's neighbours by one choice, and where none is faster the model's next",
     begin_local},
    {"evolve", "crossed and changed from the fastest, the first ones drawn at random",
     begin_evolve},
    {"ranked", "the model's ranking in order, whatever is measured", begin_ranked},
    {"random", "schedules drawn at random", begin_random},
    {"exhaustive", "every schedule in turn", begin_exhaustive},
}};

}  // namespace

std::span<const StrategyRow> strategies() { return kStrategies; }

const StrategyRow& strategy_named(std::string_view name) {
  std::string names;
  for (const StrategyRow& row : kStrategies) {
    if (row.name == name) return row;
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  throw ParseError("'" + std::string(name) + "' is not a strategy: there are " + names);
}

double give_up_above(std::span<const Seen> history) {
  double best = 1e300;
  for (const Seen& seen : history) {
    if (seen.ok && seen.fidelity == Fidelity::measure)
      best = std::min(best, seen.seconds * kRacingMargin);
  }
  return best;
}

bool is_seen(std::span<const Seen> history, const Point& point) {
  return std::any_of(history.begin(), history.end(),
                     [&point](const Seen& seen) { return seen.point == point; });
}

}  // namespace loopbrick
