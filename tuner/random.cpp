#include "tuner/strategy.h"

namespace loopbrick {

namespace {

/// Points seen already that are drawn in a row before the space counts as used up.
constexpr int kMostRepeats = 200;

}  // namespace

/// Points drawn at random, none twice.
Strategy begin_random(const Space& space, std::uint64_t seed) {
  return [&space, seed](std::span<const Seen> history) -> std::optional<Ask> {
    Random random(seed * 1'000'003 + history.size());
    for (int i = 0; i < kMostRepeats; ++i) {
      const std::optional<Point> point = sample(space, random);
      if (!point) return std::nullopt;
      if (is_seen(history, *point)) continue;
      return Ask{
          .point = *point, .fidelity = Fidelity::measure, .give_up_above = give_up_above(history)};
    }
    return std::nullopt;
  };
}

}  // namespace loopbrick
