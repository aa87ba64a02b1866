#pragma once
#include <cstdint>
#include <vector>

#include "tuner/space.h"

namespace loopbrick {

/// A point and what the model says about it.
struct Ranked {
  Point point;
  double predicted = 0.0;  ///< seconds
};

/// The points that the model likes best, with variety: those that it can't tell apart are ordered
/// so that the first ones differ in many choices, then come closer relatives.
///
/// A small space is ranked whole. A large one is sampled, and the best samples are improved one
/// choice at a time until the model sees no better value for any; everything met on the way
/// competes. Deterministic by seed; the first is the best of all that was met.
std::vector<Ranked> ranking(const Space& space, std::uint64_t seed);

/// Choices in which two points differ, refinements left out.
int distance(const Space& space, const Point& left, const Point& right);

}  // namespace loopbrick
