#pragma once
#include <optional>
#include <span>
#include <vector>

#include "tuner/ranking.h"
#include "tuner/strategy.h"

namespace loopbrick {

/// The first point of a walk that nobody has asked about; nothing if there is none.
std::optional<Point> first_open(const Space& space, std::span<const Seen> history);

/// A random point that nobody has asked about; nothing if every point of the space was asked about.
std::optional<Point> any_open(const Space& space, std::span<const Seen> history, Random& random);

/// The first of a ranking that nobody has asked about, behind its end any other; nothing if every
/// point of the space was asked about.
std::optional<Point> next_open(const Space& space, const std::vector<Ranked>& ranked,
                               std::span<const Seen> history, Random& random);

/// A generator for the next question: the same history gives the same numbers.
Random random_for(std::uint64_t seed, std::span<const Seen> history);

}  // namespace loopbrick
