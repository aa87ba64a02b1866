#include "tuner/ranking.h"

#include <algorithm>
#include <set>
#include <string>

namespace loopbrick {

namespace {

/// Spaces up to this size are ranked whole.
constexpr std::int64_t kSmall = 20'000;
constexpr int kSamples = 8'000;
constexpr int kClimbs = 16;
constexpr int kMostSweeps = 6;
constexpr std::size_t kPool = 2'000;
constexpr std::size_t kRanked = 400;

/// The model is not asked to tell points apart that it sees closer than this: of those, points that
/// differ in many choices come first.
constexpr double kNear = 1.04;

bool is_better(const Ranked& left, const Ranked& right) {
  if (left.predicted != right.predicted) return left.predicted < right.predicted;
  return std::lexicographical_compare(left.point.begin(), left.point.end(), right.point.begin(),
                                      right.point.end());
}

/// The best points met so far, each once.
class Pool {
 public:
  explicit Pool(const Space& space) : space_(space) {}

  Ranked add(const Point& point) {
    const Ranked ranked{point, space_.predict(point)};
    if (best_.size() < kPool || is_better(ranked, *best_.rbegin())) {
      best_.insert(ranked);
      if (best_.size() > kPool) best_.erase(std::prev(best_.end()));
    }
    return ranked;
  }

  std::vector<Ranked> sorted() const { return {best_.begin(), best_.end()}; }

 private:
  struct Better {
    bool operator()(const Ranked& left, const Ranked& right) const {
      return is_better(left, right);
    }
  };
  const Space& space_;
  std::set<Ranked, Better> best_;
};

/// Adds all points if there are few; false if there are many.
bool add_all(const Space& space, Pool& pool) {
  std::vector<Point> points;
  walk(space, [&points](const Point& point) {
    points.push_back(point);
    return static_cast<std::int64_t>(points.size()) <= kSmall;
  });
  if (static_cast<std::int64_t>(points.size()) > kSmall) return false;
  for (const Point& point : points) pool.add(point);
  return true;
}

/// One choice after the other takes the value that the model likes best. True if anything changed.
bool improve(const Space& space, Ranked& best, Pool& pool, Random& random) {
  const double before = best.predicted;
  for (int choice = 0; choice < best.point.size(); ++choice) {
    const Point from = best.point;
    const std::size_t values = space.choices[static_cast<std::size_t>(choice)].values.size();
    for (std::size_t value = 0; value < values; ++value) {
      if (value == from[choice]) continue;
      const auto to = changed(space, from, choice, static_cast<std::uint16_t>(value), random);
      if (!to) continue;
      const Ranked ranked = pool.add(*to);
      if (is_better(ranked, best)) best = ranked;
    }
  }
  return best.predicted < before;
}

/// At most `most` points of `sorted` of which no two are closer than `apart`, behind those chosen
/// already.
void choose(const Space& space, const std::vector<Ranked>& sorted, int apart, std::size_t most,
            std::vector<Ranked>& chosen) {
  for (const Ranked& ranked : sorted) {
    if (chosen.size() >= most) return;
    const bool is_new = std::all_of(chosen.begin(), chosen.end(), [&](const Ranked& other) {
      return ranked.point != other.point && distance(space, ranked.point, other.point) >= apart;
    });
    if (is_new) chosen.push_back(ranked);
  }
}

}  // namespace

int distance(const Space& space, const Point& left, const Point& right) {
  int differing = 0;
  for (int i = 0; i < std::min(left.size(), right.size()); ++i) {
    const bool counts = !space.choices[static_cast<std::size_t>(i)].is_refinement;
    differing += counts && left[i] != right[i] ? 1 : 0;
  }
  return differing;
}

std::vector<Ranked> ranking(const Space& space, std::uint64_t seed) {
  Pool pool(space);
  if (!add_all(space, pool)) {
    Random random(seed);
    for (int i = 0; i < kSamples; ++i) {
      if (const auto point = sample(space, random)) pool.add(*point);
    }
    std::vector<Ranked> starts;
    choose(space, pool.sorted(), 4, kClimbs, starts);
    for (Ranked best : starts) {
      for (int sweep = 0; sweep < kMostSweeps && improve(space, best, pool, random); ++sweep) {
      }
    }
  }
  const std::vector<Ranked> sorted = pool.sorted();
  std::vector<Ranked> near;
  for (const Ranked& ranked : sorted) {
    if (ranked.predicted <= kNear * sorted.front().predicted) near.push_back(ranked);
  }
  std::vector<Ranked> chosen;
  choose(space, near, 3, 12, chosen);
  choose(space, near, 2, 36, chosen);
  choose(space, near, 1, 96, chosen);
  choose(space, sorted, 1, kRanked, chosen);
  choose(space, sorted, 0, kRanked, chosen);
  return chosen;
}

}  // namespace loopbrick
