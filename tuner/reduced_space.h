#pragma once
#include <cstdint>

#include "tuner/space.h"

namespace loopbrick {

/// A part of a space that is small enough to be measured whole: every choice keeps some of its
/// values, drawn by `seed` and nothing else, and all valid points of what is kept belong to it. So
/// neighbours stay neighbours, and neither a model nor a measurement had a say.
///
/// The first point of the space, if there is any, is in its part. Returns at most `most` points.
/// Needs  `most` of at least 1 (asserted).
Space reduced(const Space& space, std::int64_t most, std::uint64_t seed);

}  // namespace loopbrick
