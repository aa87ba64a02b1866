#include "tuner/open_points.h"

#include <algorithm>

namespace loopbrick {

namespace {

/// Points seen already that are drawn in a row before all others are looked through.
constexpr int kMostRepeats = 200;

bool comes_before(const Point& left, const Point& right) {
  return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
}

}  // namespace

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

std::optional<Point> any_open(const Space& space, std::span<const Seen> history, Random& random) {
  for (int i = 0; i < kMostRepeats; ++i) {
    const std::optional<Point> point = sample(space, random);
    if (!point) break;
    if (!is_seen(history, *point)) return point;
  }
  return first_open(space, history);
}

std::optional<Point> next_open(const Space& space, const std::vector<Ranked>& ranked,
                               std::span<const Seen> history, Random& random) {
  for (const Ranked& one : ranked) {
    if (!is_seen(history, one.point)) return one.point;
  }
  return any_open(space, history, random);
}

Random random_for(std::uint64_t seed, std::span<const Seen> history) {
  return Random(seed * 1'000'003 + history.size());
}

}  // namespace loopbrick
