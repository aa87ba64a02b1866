#include "loops/weights.h"

#include <algorithm>

#include "kernels/text.h"

namespace loopbrick {

namespace {

std::int64_t blocks(std::int64_t extent, std::int64_t block) {
  return (extent + block - 1) / block;
}

AxisAccess& at(Access& access, Axis axis) {
  return access[static_cast<std::size_t>(index_of(axis))];
}

}  // namespace

std::int64_t WeightLayout::elements() const {
  std::int64_t count = saturating_product(blocks(k, tile) * tile, blocks(c, depth) * depth);
  return saturating_product(count, saturating_product(r, s));
}

Access WeightLayout::access() const {
  const std::int64_t tap = depth * tile;
  const std::int64_t taps = r * s * tap;
  Access access{};
  at(access, Axis::k) = {1, tile, blocks(c, depth) * taps};
  at(access, Axis::c) = {tile, depth, taps};
  at(access, Axis::r) = {.inner = s * tap};
  at(access, Axis::s) = {.inner = tap};
  return access;
}

void WeightLayout::lay_out(std::span<const float> oihw, std::span<float> own) const {
  const Access to = access();
  const AxisAccess in_k = to[static_cast<std::size_t>(index_of(Axis::k))];
  const AxisAccess in_c = to[static_cast<std::size_t>(index_of(Axis::c))];
  std::fill(own.begin(), own.end(), 0.0F);
  for (std::int64_t ik = 0; ik < k; ++ik) {
    for (std::int64_t ic = 0; ic < c; ++ic) {
      const float* from = oihw.data() + (ik * c + ic) * r * s;
      float* block = own.data() + in_k.offset(ik) + in_c.offset(ic);
      for (std::int64_t tap = 0; tap < r * s; ++tap) block[tap * depth * tile] = from[tap];
    }
  }
}

}  // namespace loopbrick
