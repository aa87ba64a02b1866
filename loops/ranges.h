#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "kernels/few.h"
#include "loops/contraction.h"

namespace loopbrick {

/// A half-open piece of one axis.
struct Range {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t size() const { return end - begin; }
  friend bool operator==(const Range&, const Range&) = default;
};

/// The ranges that the loops have fixed so far, by index_of(axis).
using Ranges = std::array<Range, kAxisCount>;

/// The steps of the loops over one axis, outermost first.
using Steps = Few<std::int64_t, 12>;

/// The sizes that the innermost rounds of these loops can have over a range of one of `sizes`, each
/// once.
std::vector<std::int64_t> tile_sizes(std::vector<std::int64_t> sizes, const Steps& steps);

/// Every innermost round over [0, extent), in order.
std::vector<Range> tiles(std::int64_t extent, const Steps& steps);

/// Outputs o in `outs` whose input pixel under `tap` lies on the image.
Range on_image(const Border& border, const Range& outs, std::int64_t tap);

/// Pairs of output and tap that lie on the image.
std::int64_t pairs_on_image(const Border& border, std::int64_t outs, std::int64_t taps);

}  // namespace loopbrick
