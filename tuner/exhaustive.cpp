#include <memory>

#include "tuner/open_points.h"

namespace loopbrick {

/// Every point of the space, in the order of a walk.
Strategy begin_exhaustive(const Space& space, std::uint64_t /*seed*/) {
  // Everything up to the last question was asked: the search for an open point starts there.
  const auto last = std::make_shared<std::optional<Point>>();
  return [&space, last](std::span<const Seen> history) -> std::optional<Ask> {
    std::optional<Point> point;
    if (*last && !history.empty() && history.back().point == **last) {
      point = next_point(space, *last);
      while (point && is_seen(history, *point)) point = next_point(space, point);
    } else {
      point = first_open(space, history);
    }
    *last = point;
    if (!point) return std::nullopt;
    return Ask{
        .point = *point, .fidelity = Fidelity::measure, .give_up_above = give_up_above(history)};
  };
}

}  // namespace loopbrick
