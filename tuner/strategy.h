#pragma once
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string_view>

#include "tuner/space.h"

namespace loopbrick {

using Random = std::mt19937_64;

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
  double seconds = 0.0;  ///< median, if ok
};

/// History in, next question out, nothing when done: deterministic, resumable by replaying the history.
using Strategy = std::optional<Ask> (*)(const Space& space, std::span<const Seen> history, Random& random);

struct StrategyRow {
  std::string_view name;
  std::string_view sentence;
  Strategy next;
};
std::span<const StrategyRow> strategies();

}  // namespace loopbrick
