#include "tuner/space.h"

#include <unordered_map>

#include "kernels/text.h"

namespace loopbrick {

namespace {

/// Subtrees of one length that are remembered at once; then all are forgotten, so that memory stays
/// bounded.
constexpr std::size_t kMostRemembered = 20'000;

/// Starts of a sample before it gives up; a descent rarely meets a dead end.
constexpr int kMostDescents = 1000;

/// Random values that are tried before all are: most choices allow many.
constexpr int kMostTries = 16;

struct Tally {
  std::int64_t leaves = 0;
  std::vector<Cut> cuts;

  void add(const char* sentence, std::int64_t combinations) {
    for (Cut& cut : cuts) {
      if (cut.sentence != sentence) continue;
      cut.combinations = saturating_sum(cut.combinations, combinations);
      return;
    }
    cuts.push_back({sentence, combinations});
  }

  void add(const Tally& other) {
    leaves = saturating_sum(leaves, other.leaves);
    for (const Cut& cut : other.cuts) add(cut.sentence, cut.combinations);
  }
};

/// One count of one space.
class Counter {
 public:
  explicit Counter(const Space& space)
      : space_(space), below_(space.choices.size() + 1, 1), known_(space.choices.size()) {
    for (std::size_t level = space.choices.size(); level-- > 0;) {
      const auto values = static_cast<std::int64_t>(space.choices[level].values.size());
      below_[level] = saturating_product(below_[level + 1], values);
    }
  }

  Counts all() {
    const Tally tally = ask();
    return {.leaves = tally.leaves, .raw = below_[0], .asked = asked_, .cuts = tally.cuts};
  }

 private:
  Tally ask() {
    ++asked_;
    Tally tally;
    const auto level = static_cast<std::size_t>(point_.size());
    if (const std::optional<Refusal> refusal = space_.why_not(point_)) {
      tally.add(refusal->sentence, below_[level]);
    } else if (level == space_.choices.size()) {
      tally.leaves = 1;
    } else {
      tally = below(level);
    }
    return tally;
  }

  Tally below(std::size_t level) {
    const bool has_state = space_.state != nullptr && level > 0;
    const std::uint64_t key = has_state ? space_.state(point_) : 0;
    if (has_state) {
      if (const auto known = known_[level].find(key); known != known_[level].end()) {
        return known->second;
      }
    }
    Tally tally;
    for (std::size_t value = 0; value < space_.choices[level].values.size(); ++value) {
      point_.push_back(static_cast<std::uint16_t>(value));
      tally.add(ask());
      point_.pop_back();
    }
    if (has_state) {
      if (known_[level].size() == kMostRemembered) known_[level].clear();
      known_[level].emplace(key, tally);
    }
    return tally;
  }

  const Space& space_;
  std::vector<std::int64_t> below_;  ///< raw combinations below a prefix of this length
  Point point_;
  std::int64_t asked_ = 0;
  std::vector<std::unordered_map<std::uint64_t, Tally>> known_;  ///< by length and state
};

bool is_allowed(const Space& space, Point& point, std::uint16_t value) {
  point.push_back(value);
  const bool allowed = !space.why_not(point);
  point.pop_back();
  return allowed;
}

/// A value of the next choice that is not refused behind `point`, each equally likely.
std::optional<std::uint16_t> any_allowed(const Space& space, Point& point, Random& random) {
  const std::size_t count = space.choices[static_cast<std::size_t>(point.size())].values.size();
  for (int i = 0; i < kMostTries; ++i) {
    const auto value = static_cast<std::uint16_t>(random() % count);
    if (is_allowed(space, point, value)) return value;
  }
  std::vector<std::uint16_t> allowed;
  for (std::size_t value = 0; value < count; ++value) {
    if (is_allowed(space, point, static_cast<std::uint16_t>(value))) {
      allowed.push_back(static_cast<std::uint16_t>(value));
    }
  }
  if (allowed.empty()) return std::nullopt;
  return allowed[random() % allowed.size()];
}

/// Fixes the choices that `point` leaves open, like `like` where that is allowed.
std::optional<Point> completed(const Space& space, Point point, const Point* like, Random& random) {
  if (space.why_not(point)) return std::nullopt;
  while (point.size() < static_cast<int>(space.choices.size())) {
    const int level = point.size();
    if (like != nullptr && is_allowed(space, point, (*like)[level])) {
      point.push_back((*like)[level]);
      continue;
    }
    const std::optional<std::uint16_t> value = any_allowed(space, point, random);
    if (!value) return std::nullopt;
    point.push_back(*value);
  }
  return point;
}

}  // namespace

std::optional<Refusal> first_refusal(const Space& space, const Point& point) {
  Point prefix;
  if (auto refusal = space.why_not(prefix)) return refusal;
  for (const std::uint16_t value : point) {
    prefix.push_back(value);
    if (auto refusal = space.why_not(prefix)) return refusal;
  }
  return std::nullopt;
}

Counts count(const Space& space) { return Counter(space).all(); }

std::optional<Point> next_point(const Space& space, const std::optional<Point>& after) {
  const int choices = static_cast<int>(space.choices.size());
  Point point = after.value_or(Point{});
  if (point.empty()) {
    if (choices == 0 || space.why_not(point)) return std::nullopt;
    point.push_back(0);
  } else {
    ++point.back();
  }
  while (true) {
    const auto level = static_cast<std::size_t>(point.size() - 1);
    if (point.back() == space.choices[level].values.size()) {
      point.pop_back();
      if (point.empty()) return std::nullopt;
      ++point.back();
    } else if (space.why_not(point)) {
      ++point.back();
    } else if (point.size() == choices) {
      return point;
    } else {
      point.push_back(0);
    }
  }
}

std::optional<Point> sample(const Space& space, Random& random) {
  for (int i = 0; i < kMostDescents; ++i) {
    if (auto point = completed(space, {}, nullptr, random)) return point;
  }
  return std::nullopt;
}

std::optional<Point> changed(const Space& space, const Point& point, int choice,
                             std::uint16_t value, Random& random) {
  Point prefix;
  for (int i = 0; i < choice; ++i) prefix.push_back(point[i]);
  prefix.push_back(value);
  return completed(space, prefix, &point, random);
}

std::optional<Point> crossed(const Space& space, const Point& left, const Point& right,
                             Random& random) {
  Point point;
  if (space.why_not(point)) return std::nullopt;
  while (point.size() < static_cast<int>(space.choices.size())) {
    const int level = point.size();
    const bool is_left = random() % 2 == 0;
    std::optional<std::uint16_t> value = (is_left ? left : right)[level];
    if (!is_allowed(space, point, *value)) value = (is_left ? right : left)[level];
    if (!is_allowed(space, point, *value)) value = any_allowed(space, point, random);
    if (!value) return std::nullopt;
    point.push_back(*value);
  }
  return point;
}

}  // namespace loopbrick
