#include "loops/weights.h"

#include <algorithm>

#include "kernels/text.h"

namespace loopbrick {

namespace {

std::int64_t blocks(std::int64_t extent, std::int64_t block) {
  return (extent + block - 1) / block;
}

AxisAccess& at(Access& access, Axis axis) { return access[place(axis)]; }

}  // namespace

std::int64_t WeightLayout::elements() const {
  std::int64_t count = saturating_product(blocks(k, tile) * tile, blocks(c, depth) * depth);
  return saturating_product(count, saturating_product(r, s));
}

Access WeightLayout::access() const {
  const std::int64_t tap = depth * tile;
  const std::int64_t channel_blocks = blocks(c, depth);
  const std::int64_t block = columns_first ? r * tap : r * s * tap;
  Access access{};
  at(access, Axis::k) = {.inner = 1};
  if (tile < k) at(access, Axis::k) = {1, tile, channel_blocks * r * s * tap};
  at(access, Axis::c) = {.inner = tile};
  if (depth < c) at(access, Axis::c) = {tile, depth, block};
  at(access, Axis::r) = {.inner = columns_first ? tap : s * tap};
  at(access, Axis::s) = {.inner = columns_first ? channel_blocks * block : tap};
  return access;
}

void WeightLayout::lay_out(std::span<const float> oihw, std::span<float> own, int threads) const {
  const Access to = access();
  const auto along = [&to](Axis axis) { return to[place(axis)]; };
  std::fill(own.begin(), own.end(), 0.0F);
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t first = 0; first < k; first += tile) {
    const std::int64_t columns = std::min(tile, k - first);
    for (std::int64_t ic = 0; ic < c; ++ic) {
      for (std::int64_t tap = 0; tap < r * s; ++tap) {
        const float* from = oihw.data() + (first * c + ic) * r * s + tap;
        float* row = own.data() + along(Axis::k).offset(first) + along(Axis::c).offset(ic) +
                     along(Axis::r).offset(tap / s) + along(Axis::s).offset(tap % s);
        for (std::int64_t i = 0; i < columns; ++i) row[i] = from[i * c * r * s];
      }
    }
  }
}

}  // namespace loopbrick
