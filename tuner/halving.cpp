#include <algorithm>
#include <memory>
#include <vector>

#include "tuner/open_points.h"

// Successive halving, guided by the model: a bracket of candidates is screened (a few calls each),
// the fastest quarter of it is measured, fastest first; each of those gives up once it is behind
// the best that was measured. Then comes the next bracket, from where the model's ranking was left.

namespace loopbrick {

namespace {

constexpr std::size_t kBracket = 16;
constexpr std::size_t kSurvivors = 4;

class Halving {
 public:
  Halving(const Space& space, std::uint64_t seed) : space_(space), seed_(seed) {}

  std::optional<Ask> next(std::span<const Seen> history) {
    if (ranked_.empty()) ranked_ = ranking(space_, seed_);
    Random random = random_for(seed_, history);
    const bool is_full = count_screens(history) % kBracket == 0;
    if (is_full) {
      if (const auto point = survivor(history, kBracket)) return measure(*point, history);
    }
    if (const auto point = next_open(space_, ranked_, history, random)) {
      // A search that ends early has measured something: the model's first choice.
      if (!has_measured(history)) return measure(*point, history);
      return Ask{
          .point = *point, .fidelity = Fidelity::screen, .give_up_above = give_up_above(history)};
    }
    const std::size_t begun = count_screens(history) % kBracket;
    if (const auto point = survivor(history, begun)) return measure(*point, history);
    return std::nullopt;
  }

 private:
  static Ask measure(const Point& point, std::span<const Seen> history) {
    return {.point = point, .give_up_above = give_up_above(history)};
  }

  static bool has_measured(std::span<const Seen> history) { return give_up_above(history) < 1e300; }

  static std::size_t count_screens(std::span<const Seen> history) {
    return static_cast<std::size_t>(
        std::count_if(history.begin(), history.end(),
                      [](const Seen& seen) { return seen.fidelity == Fidelity::screen; }));
  }

  static bool is_measured(std::span<const Seen> history, const Point& point) {
    return std::any_of(history.begin(), history.end(), [&point](const Seen& seen) {
      return seen.fidelity == Fidelity::measure && seen.point == point;
    });
  }

  /// The fastest survivor of the last `size` screened that is not measured and not out of the race.
  static std::optional<Point> survivor(std::span<const Seen> history, std::size_t size) {
    std::vector<const Seen*> bracket;
    for (std::size_t i = history.size(), screens = 0; i > 0 && screens < size; --i) {
      const Seen& seen = history[i - 1];
      if (seen.fidelity != Fidelity::screen) continue;
      ++screens;
      if (seen.ok) bracket.push_back(&seen);
    }
    std::stable_sort(bracket.begin(), bracket.end(), [](const Seen* left, const Seen* right) {
      return left->seconds < right->seconds;
    });
    bracket.resize(std::min(bracket.size(), kSurvivors));
    for (const Seen* seen : bracket) {
      if (seen->seconds > give_up_above(history)) break;
      if (!is_measured(history, seen->point)) return seen->point;
    }
    return std::nullopt;
  }

  const Space& space_;
  std::uint64_t seed_;
  std::vector<Ranked> ranked_;
};

}  // namespace

Strategy begin_halving(const Space& space, std::uint64_t seed) {
  return [search = std::make_shared<Halving>(space, seed)](std::span<const Seen> history) {
    return search->next(history);
  };
}

}  // namespace loopbrick
