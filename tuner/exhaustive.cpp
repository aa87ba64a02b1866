#include <algorithm>

#include "tuner/strategy.h"

namespace loopbrick {

/// Every point of the space, in the order of a walk.
Strategy begin_exhaustive(const Space& space, std::uint64_t /*seed*/) {
  return [&space](std::span<const Seen> history) -> std::optional<Ask> {
    std::optional<Point> last;
    if (!history.empty()) last = history.back().point;
    const std::optional<Point> point = next_point(space, last);
    if (!point) return std::nullopt;
    return Ask{
        .point = *point, .fidelity = Fidelity::measure, .give_up_above = give_up_above(history)};
  };
}

}  // namespace loopbrick
