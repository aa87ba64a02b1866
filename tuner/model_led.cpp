#include <algorithm>
#include <memory>

#include "tuner/ranking.h"
#include "tuner/strategy.h"

// The search that is the default.
//
// Screens and measurements take turns. Screening (a few calls) goes through the model's ranking and
// through variations of the best that were found; after every few screens the most promising of
// them are measured properly. So the search may end at any time: what was found last is always
// measured soon.

namespace loopbrick {

namespace {

/// Screens before anything is varied: the ranking's first are the better guesses, unless something
/// better came from elsewhere.
constexpr std::size_t kRankedFirst = 24;

constexpr std::size_t kScreensPerTurn = 8;
constexpr std::size_t kMeasuresPerTurn = 3;

/// Screened candidates up to this far behind the best are worth measuring.
constexpr double kPromising = 1.06;

constexpr std::size_t kParents = 3;
constexpr int kVariations = 48;
constexpr std::size_t kLikely = 8;

class ModelLed {
 public:
  ModelLed(const Space& space, std::uint64_t seed) : space_(space), seed_(seed) {}

  std::optional<Ask> next(std::span<const Seen> history) {
    if (ranked_.empty()) ranked_ = ranking(space_, seed_);
    if (ranked_.empty()) return std::nullopt;
    const auto measures = count(history, Fidelity::measure);
    const auto screens = count(history, Fidelity::screen);
    if (measures == 0) return first(history);
    if (measures - 1 < kMeasuresPerTurn * (screens / kScreensPerTurn)) {
      if (const Seen* best = promising(history))
        return ask(best->point, Fidelity::measure, history);
    }
    Random random(seed_ * 1'000'003 + history.size());
    const bool is_ranked_turn =
        screens % 2 == 0 || (screens < kRankedFirst && best_is_ranked(history));
    std::optional<Point> point = is_ranked_turn ? next_ranked(history) : variation(history, random);
    if (!point) point = is_ranked_turn ? variation(history, random) : next_ranked(history);
    if (point) return ask(*point, Fidelity::screen, history);
    if (const Seen* best = promising(history)) return ask(best->point, Fidelity::measure, history);
    return std::nullopt;
  }

 private:
  static std::size_t count(std::span<const Seen> history, Fidelity fidelity) {
    return static_cast<std::size_t>(std::count_if(
        history.begin(), history.end(),
        [fidelity](const Seen& seen) { return seen.ok && seen.fidelity == fidelity; }));
  }

  static Ask ask(const Point& point, Fidelity fidelity, std::span<const Seen> history) {
    return {.point = point, .fidelity = fidelity, .give_up_above = give_up_above(history)};
  }

  bool best_is_ranked(std::span<const Seen> history) const {
    const std::vector<Point> best = parents(history);
    return !best.empty() &&
           std::any_of(ranked_.begin(), ranked_.end(),
                       [&best](const Ranked& ranked) { return ranked.point == best.front(); });
  }

  /// The model's first choice is measured at once; if it fails, the next one is.
  std::optional<Ask> first(std::span<const Seen> history) const {
    if (const auto point = next_ranked(history)) return ask(*point, Fidelity::measure, history);
    return std::nullopt;
  }

  std::optional<Point> next_ranked(std::span<const Seen> history) const {
    for (const Ranked& ranked : ranked_) {
      if (!is_seen(history, ranked.point)) return ranked.point;
    }
    return std::nullopt;
  }

  static bool is_measured(std::span<const Seen> history, const Point& point) {
    return std::any_of(history.begin(), history.end(), [&point](const Seen& seen) {
      return seen.fidelity == Fidelity::measure && seen.point == point;
    });
  }

  /// The fastest that was screened and not measured, unless it is far behind the best.
  static const Seen* promising(std::span<const Seen> history) {
    const Seen* best = nullptr;
    double fastest = 1e300;
    for (const Seen& seen : history) {
      if (!seen.ok) continue;
      fastest = std::min(fastest, seen.seconds);
      if (seen.fidelity == Fidelity::measure || is_measured(history, seen.point)) continue;
      if (best == nullptr || seen.seconds < best->seconds) best = &seen;
    }
    return best != nullptr && best->seconds <= fastest * kPromising ? best : nullptr;
  }

  /// The fastest points, each once.
  static std::vector<Point> parents(std::span<const Seen> history) {
    std::vector<const Seen*> fastest;
    for (const Seen& seen : history) {
      if (seen.ok) fastest.push_back(&seen);
    }
    std::stable_sort(fastest.begin(), fastest.end(), [](const Seen* left, const Seen* right) {
      return left->seconds < right->seconds;
    });
    std::vector<Point> points;
    for (const Seen* seen : fastest) {
      if (points.size() == kParents) break;
      if (std::find(points.begin(), points.end(), seen->point) == points.end())
        points.push_back(seen->point);
    }
    return points;
  }

  /// Something new near a fast point: in one case of two one choice changed whatever the model
  /// says, else one or two changed as the model likes.
  std::optional<Point> variation(std::span<const Seen> history, Random& random) const {
    const std::vector<Point> from = parents(history);
    if (from.empty()) return std::nullopt;
    const bool trusts_model = random() % 2 == 0;
    std::vector<Ranked> found;
    for (int i = 0; i < kVariations; ++i) {
      const std::uint64_t changes = trusts_model ? 1 + random() % 2 : 1;
      const std::optional<Point> point = varied(from[random() % from.size()], changes, random);
      if (!point || is_seen(history, *point)) continue;
      if (!trusts_model) return point;
      found.push_back({*point, space_.predict(*point)});
    }
    if (found.empty()) return std::nullopt;
    const std::size_t kept = std::min(kLikely, found.size());
    std::partial_sort(
        found.begin(), found.begin() + static_cast<std::ptrdiff_t>(kept), found.end(),
        [](const Ranked& left, const Ranked& right) { return left.predicted < right.predicted; });
    return found[random() % kept].point;
  }

  /// Values are listed by size where they have one: neighbours are tried as often as all others
  /// together.
  std::optional<Point> varied(std::optional<Point> point, std::uint64_t changes,
                              Random& random) const {
    for (; changes > 0 && point; --changes) {
      const auto choice = static_cast<int>(random() % space_.choices.size());
      const auto values = space_.choices[static_cast<std::size_t>(choice)].values.size();
      std::uint64_t value = random() % values;
      if (random() % 2 == 0)
        value = ((*point)[choice] + (random() % 2 == 0 ? 1 : values - 1)) % values;
      point = changed(space_, *point, choice, static_cast<std::uint16_t>(value), random);
    }
    return point;
  }

  const Space& space_;
  std::uint64_t seed_;
  std::vector<Ranked> ranked_;
};

}  // namespace

Strategy begin_model_led(const Space& space, std::uint64_t seed) {
  return [search = std::make_shared<ModelLed>(space, seed)](std::span<const Seen> history) {
    return search->next(history);
  };
}

}  // namespace loopbrick
