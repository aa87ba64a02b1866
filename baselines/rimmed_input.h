#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace loopbrick {

/// Images whose padding is part of the array: [planes][height + 2 pad_h][width + 2 pad_w].
struct RimmedInput {
  std::int64_t planes = 0, height = 0, width = 0;
  std::int64_t pad_h = 0, pad_w = 0;

  std::int64_t elements() const { return planes * (height + 2 * pad_h) * (width + 2 * pad_w); }
};

/// `plain`, [planes][height][width], with zeros around each plane.
std::vector<float> with_rim(const RimmedInput& input, std::span<const float> plain);

/// The way back: whatever lies in the rim is left out.
void without_rim(const RimmedInput& input, std::span<const float> rimmed, std::span<float> plain);

}  // namespace loopbrick
