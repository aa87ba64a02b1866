#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "loops/contraction.h"

namespace loopbrick {

/// One axis of an array that lies at any strides, blocks included.
struct StridedAxis {
  std::int64_t extent = 1;
  AxisAccess access;
};

/// An array as its plain row-major twin names its axes, outermost first.
using StridedArray = std::vector<StridedAxis>;

std::int64_t last_offset(
    const StridedArray& array);  ///< of the element that lies farthest; -1 if there is none

/// Copies between a plain row-major array and its strided twin; gaps of the twin are left alone.
void scatter(const StridedArray& array, std::span<const float> plain, std::span<float> own,
             int threads);
void gather(const StridedArray& array, std::span<const float> own, std::span<float> plain,
            int threads);

}  // namespace loopbrick
