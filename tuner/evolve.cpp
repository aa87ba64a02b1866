#include <algorithm>
#include <vector>

#include "tuner/open_points.h"

// Evolution without the model: the first points are drawn; from then on a child of two of the
// fastest takes each choice from one of them, and one choice is changed at random.

namespace loopbrick {

namespace {

constexpr std::size_t kPopulation = 16;
constexpr int kMostChildren = 50;  ///< that were asked about before, until a point is drawn instead

/// The fastest that were asked about.
std::vector<const Seen*> population(std::span<const Seen> history) {
  std::vector<const Seen*> fastest;
  for (const Seen& seen : history) {
    if (seen.ok) fastest.push_back(&seen);
  }
  std::stable_sort(fastest.begin(), fastest.end(), [](const Seen* left, const Seen* right) {
    return left->seconds < right->seconds;
  });
  fastest.resize(std::min(fastest.size(), kPopulation));
  return fastest;
}

/// The faster of two at random.
const Point& parent(const std::vector<const Seen*>& sorted, Random& random) {
  const std::size_t one = random() % sorted.size();
  const std::size_t other = random() % sorted.size();
  return sorted[std::min(one, other)]->point;
}

std::optional<Point> child(const Space& space, const std::vector<const Seen*>& sorted,
                           Random& random) {
  const Point& left = parent(sorted, random);
  const Point& right = parent(sorted, random);
  const std::optional<Point> point = crossed(space, left, right, random);
  if (!point) return std::nullopt;
  const std::size_t choice = random() % space.choices.size();
  const std::size_t value = random() % space.choices[choice].values.size();
  return changed(space, *point, static_cast<int>(choice), static_cast<std::uint16_t>(value),
                 random);
}

std::optional<Point> next_of_evolution(const Space& space, std::span<const Seen> history,
                                       Random& random) {
  const std::vector<const Seen*> sorted = population(history);
  for (int i = 0; sorted.size() == kPopulation && i < kMostChildren; ++i) {
    const std::optional<Point> point = child(space, sorted, random);
    if (point && !is_seen(history, *point)) return point;
  }
  return any_open(space, history, random);
}

}  // namespace

Strategy begin_evolve(const Space& space, std::uint64_t seed) {
  return [&space, seed](std::span<const Seen> history) -> std::optional<Ask> {
    Random random = random_for(seed, history);
    const std::optional<Point> point = next_of_evolution(space, history, random);
    if (!point) return std::nullopt;
    return Ask{.point = *point, .give_up_above = give_up_above(history)};
  };
}

}  // namespace loopbrick
