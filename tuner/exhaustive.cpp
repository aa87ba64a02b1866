#include <algorithm>
#include <memory>
#include <vector>

#include "tuner/strategy.h"

namespace loopbrick {

namespace {

bool comes_before(const Point& left, const Point& right) {
  return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
}

/// The first point of the walk that nobody has asked about.
std::optional<Point> first_open(const Space& space, std::span<const Seen> history) {
  std::vector<Point> asked;
  for (const Seen& seen : history) asked.push_back(seen.point);
  std::sort(asked.begin(), asked.end(), comes_before);
  std::optional<Point> point = next_point(space, std::nullopt);
  while (point && std::binary_search(asked.begin(), asked.end(), *point, comes_before)) {
    point = next_point(space, point);
  }
  return point;
}

}  // namespace

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
