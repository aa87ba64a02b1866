#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "tuner/space.h"

namespace loopbrick {

/// How exactly a candidate is to be timed.
enum class Fidelity { screen, measure };

/// One question of a strategy.
struct Ask {
  Point point;
  Fidelity fidelity = Fidelity::measure;
  double give_up_above = 1e300;  ///< seconds
};

/// One answered question.
struct Seen {
  Point point;
  Fidelity fidelity = Fidelity::measure;
  bool ok = false;
  double seconds = 0.0;  ///< of the fastest sample, if ok
};

/// History in, next question out, nothing when done: the answer depends on the space, the seed and
/// the history only, so that a search is resumed by giving its history again.
using Strategy = std::function<std::optional<Ask>(std::span<const Seen> history)>;

/// `begin` makes a Strategy for one space (which must outlive it); what it ranks, it ranks once.
struct StrategyRow {
  std::string_view name;
  std::string_view sentence;
  Strategy (*begin)(const Space& space, std::uint64_t seed);
};
std::span<const StrategyRow> strategies();

/// Errors  throws ParseError that lists the names there are.
const StrategyRow& strategy_named(std::string_view name);

/// A candidate is dropped once its fastest sample is this far behind the incumbent.
inline constexpr double kRacingMargin = 1.05;

/// Seconds above which timing a candidate is a waste: a little above the best that was measured.
double give_up_above(std::span<const Seen> history);
bool is_seen(std::span<const Seen> history, const Point& point);

Strategy begin_exhaustive(const Space& space, std::uint64_t seed);
Strategy begin_random(const Space& space, std::uint64_t seed);
Strategy begin_evolve(const Space& space, std::uint64_t seed);
Strategy begin_halving(const Space& space, std::uint64_t seed);
Strategy begin_local(const Space& space, std::uint64_t seed);
Strategy begin_model_led(const Space& space, std::uint64_t seed);
Strategy begin_ranked(const Space& space, std::uint64_t seed);

}  // namespace loopbrick
