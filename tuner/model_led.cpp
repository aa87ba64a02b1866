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
    std::optional<Point> point =
        screens % 2 == 0 ? next_ranked(history) : variation(history, random);
    if (!point) point = screens % 2 == 0 ? variation(history, random) : next_ranked(history);
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

  /// One or two choices of a fast point changed, into something new that the model does not
  /// dislike.
  std::optional<Point> variation(std::span<const Seen> history, Random& random) const {
    const std::vector<Point> from = parents(history);
    if (from.empty()) return std::nullopt;
    std::vector<Ranked> likely;
    for (int i = 0; i < kVariations; ++i) {
      std::optional<Point> point = from[random() % from.size()];
      for (std::uint64_t changes = 1 + random() % 2; changes > 0 && point; --changes) {
        const auto choice = static_cast<int>(random() % space_.choices.size());
        const std::size_t values = space_.choices[static_cast<std::size_t>(choice)].values.size();
        point =
            changed(space_, *point, choice, static_cast<std::uint16_t>(random() % values), random);
      }
      if (point && !is_seen(history, *point)) likely.push_back({*point, space_.predict(*point)});
    }
    if (likely.empty()) return std::nullopt;
    const std::size_t kept = std::min(kLikely, likely.size());
    std::partial_sort(
        likely.begin(), likely.begin() + static_cast<std::ptrdiff_t>(kept), likely.end(),
        [](const Ranked& left, const Ranked& right) { return left.predicted < right.predicted; });
    return likely[random() % kept].point;
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
