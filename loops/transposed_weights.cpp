#include "loops/transposed_weights.h"

#include <algorithm>
#include <array>
#include <utility>
#include <xmmintrin.h>

namespace loopbrick {

namespace {

constexpr std::int64_t kBlock = 16;  // a cache line each way
constexpr std::int64_t kQuad = 4;

std::size_t place(Axis axis) { return static_cast<std::size_t>(index_of(axis)); }

/// Rows from[0], from[stride], ... become columns of to[0], to[1], ...
void transpose_quad(const float* from, std::int64_t stride, float* const to[kQuad],
                    std::int64_t column) {
  const __m128 row0 = _mm_loadu_ps(from);
  const __m128 row1 = _mm_loadu_ps(from + stride);
  const __m128 row2 = _mm_loadu_ps(from + 2 * stride);
  const __m128 row3 = _mm_loadu_ps(from + 3 * stride);
  const __m128 low01 = _mm_unpacklo_ps(row0, row1);
  const __m128 low23 = _mm_unpacklo_ps(row2, row3);
  const __m128 high01 = _mm_unpackhi_ps(row0, row1);
  const __m128 high23 = _mm_unpackhi_ps(row2, row3);
  _mm_storeu_ps(to[0] + column, _mm_movelh_ps(low01, low23));
  _mm_storeu_ps(to[1] + column, _mm_movehl_ps(low23, low01));
  _mm_storeu_ps(to[2] + column, _mm_movelh_ps(high01, high23));
  _mm_storeu_ps(to[3] + column, _mm_movehl_ps(high23, high01));
}

}  // namespace

Access TransposedWeights::from() const {
  Access access{};
  access[place(Axis::k)] = {1, block, c * block};
  access[place(Axis::c)] = {.inner = block};
  return access;
}

Access TransposedWeights::access() const {
  Access access = to.access();
  std::swap(access[place(Axis::k)], access[place(Axis::c)]);
  return access;
}

/// One block of 16 x 16 weights, or what the ranges leave of it.
void TransposedWeights::rewrite(const float* forward, const Range& ks, const Range& cs,
                                std::int64_t first_k, std::int64_t first_c,
                                float* own) const noexcept {
  const AxisAccess from_k = from()[place(Axis::k)];
  const AxisAccess to_k = access()[place(Axis::k)];
  const AxisAccess to_c = access()[place(Axis::c)];
  const auto target = [&](std::int64_t ik, std::int64_t ic) {
    return own + to_k.offset(ik - ks.begin) + to_c.offset(ic - cs.begin);
  };
  const bool lies_together = first_k + kBlock <= ks.end && first_k % block + kBlock <= block &&
                             first_c + kBlock <= cs.end &&
                             (first_c - cs.begin) % to.tile + kBlock <= to.tile;
  if (!lies_together) {
    for (std::int64_t ik = first_k; ik < std::min(ks.end, first_k + kBlock); ++ik) {
      for (std::int64_t ic = first_c; ic < std::min(cs.end, first_c + kBlock); ++ic) {
        *target(ik, ic) = forward[from_k.offset(ik) + ic * block];
      }
    }
    return;
  }
  std::array<float*, kBlock> rows;
  for (std::int64_t i = 0; i < kBlock; ++i) {
    rows[static_cast<std::size_t>(i)] = target(first_k + i, first_c);
  }
  const float* corner = forward + from_k.offset(first_k) + first_c * block;
  for (std::int64_t ik = 0; ik < kBlock; ik += kQuad) {
    for (std::int64_t ic = 0; ic < kBlock; ic += kQuad) {
      transpose_quad(corner + ic * block + ik, block, rows.data() + ik, ic);
    }
  }
}

void TransposedWeights::run(const float* forward, float* own, int threads) const noexcept {
  // Threads share c, as a nest that begins with C does: what one wrote, it reads itself.
#pragma omp parallel for collapse(2) num_threads(threads) schedule(static)
  for (std::int64_t first_c = 0; first_c < c; first_c += kBlock) {
    for (std::int64_t first_k = 0; first_k < k; first_k += kBlock) {
      rewrite(forward, {0, k}, {0, c}, first_k, first_c, own);
    }
  }
}

void TransposedWeights::run(const float* forward, const Range& ks, const Range& cs,
                            float* own) const noexcept {
  for (std::int64_t first_k = ks.begin; first_k < ks.end; first_k += kBlock) {
    for (std::int64_t first_c = cs.begin; first_c < cs.end; first_c += kBlock) {
      rewrite(forward, ks, cs, first_k, first_c, own);
    }
  }
}

}  // namespace loopbrick
