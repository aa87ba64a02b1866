#include "tuner/open_points.h"

namespace loopbrick {

/// Points drawn at random, none twice.
Strategy begin_random(const Space& space, std::uint64_t seed) {
  return [&space, seed](std::span<const Seen> history) -> std::optional<Ask> {
    Random random = random_for(seed, history);
    const std::optional<Point> point = any_open(space, history, random);
    if (!point) return std::nullopt;
    return Ask{.point = *point, .give_up_above = give_up_above(history)};
  };
}

}  // namespace loopbrick
