#include <memory>

#include "tuner/open_points.h"

namespace loopbrick {

/// The model's ranking in order, whatever was measured: what the model alone is worth.
Strategy begin_ranked(const Space& space, std::uint64_t seed) {
  const auto ranked = std::make_shared<std::vector<Ranked>>(ranking(space, seed));
  return [&space, seed, ranked](std::span<const Seen> history) -> std::optional<Ask> {
    Random random = random_for(seed, history);
    const std::optional<Point> point = next_open(space, *ranked, history, random);
    if (!point) return std::nullopt;
    return Ask{.point = *point, .give_up_above = give_up_above(history)};
  };
}

}  // namespace loopbrick
