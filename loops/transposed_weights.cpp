#include "loops/transposed_weights.h"

#include <algorithm>
#include <array>
#include <utility>
#include <xmmintrin.h>

#include "loops/step_facts.h"

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

/// From the forward layout to a panel of these ranges.
class Rewriting {
 public:
  Rewriting(const TransposedWeights& weights, const float* forward, const Range& ks,
            const Range& cs, float* own)
      : forward_(forward),
        own_(own),
        ks_(ks),
        cs_(cs),
        block_(weights.block),
        tile_(weights.to.tile),
        from_k_(weights.from()[place(Axis::k)]),
        to_k_(weights.access()[place(Axis::k)]),
        to_c_(weights.access()[place(Axis::c)]) {}

  /// One block of 16 x 16 weights, or what the ranges leave of it.
  void rewrite(std::int64_t first_k, std::int64_t first_c) const {
    const bool lies_together = first_k + kBlock <= ks_.end && first_k % block_ + kBlock <= block_ &&
                               first_c + kBlock <= cs_.end &&
                               (first_c - cs_.begin) % tile_ + kBlock <= tile_;
    lies_together ? whole_block(first_k, first_c) : elements(first_k, first_c);
  }

 private:
  const float* source(std::int64_t ik, std::int64_t ic) const {
    return forward_ + from_k_.offset(ik) + ic * block_;
  }
  float* target(std::int64_t ik, std::int64_t ic) const {
    return own_ + to_k_.offset(ik - ks_.begin) + to_c_.offset(ic - cs_.begin);
  }

  void whole_block(std::int64_t first_k, std::int64_t first_c) const {
    std::array<float*, kBlock> rows;
    for (std::int64_t i = 0; i < kBlock; ++i) {
      rows[static_cast<std::size_t>(i)] = target(first_k + i, first_c);
    }
    const float* corner = source(first_k, first_c);
    for (std::int64_t ik = 0; ik < kBlock; ik += kQuad) {
      for (std::int64_t ic = 0; ic < kBlock; ic += kQuad) {
        transpose_quad(corner + ic * block_ + ik, block_, rows.data() + ik, ic);
      }
    }
  }

  void elements(std::int64_t first_k, std::int64_t first_c) const {
    for (std::int64_t ik = first_k; ik < std::min(ks_.end, first_k + kBlock); ++ik) {
      for (std::int64_t ic = first_c; ic < std::min(cs_.end, first_c + kBlock); ++ic) {
        *target(ik, ic) = *source(ik, ic);
      }
    }
  }

  const float* forward_;
  float* own_;
  Range ks_, cs_;
  std::int64_t block_, tile_;
  AxisAccess from_k_, to_k_, to_c_;
};

}  // namespace

TransposedWeights TransposedWeights::of(const Contraction& contraction, const Step& step) {
  const std::int64_t k = contraction.extent(contraction.depth);
  return {.k = k,
          .c = contraction.extent(contraction.columns),
          .block = contraction.depth_block == 0 ? k : contraction.depth_block,
          .to = {.k = range_before_pack(contraction, step, contraction.columns),
                 .c = range_before_pack(contraction, step, contraction.depth),
                 .tile = tile_columns(contraction, step),
                 .depth = entry_depth(contraction, step)}};
}

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

void TransposedWeights::run(const float* forward, float* own, int threads) const noexcept {
  const Rewriting rewriting(*this, forward, {0, k}, {0, c}, own);
  // Threads share c, as a nest that begins with C does: what one wrote, it reads itself.
#pragma omp parallel for collapse(2) num_threads(threads) schedule(static)
  for (std::int64_t first_c = 0; first_c < c; first_c += kBlock) {
    for (std::int64_t first_k = 0; first_k < k; first_k += kBlock) {
      rewriting.rewrite(first_k, first_c);
    }
  }
}

void TransposedWeights::run(const float* forward, const Range& ks, const Range& cs,
                            float* own) const noexcept {
  const Rewriting rewriting(*this, forward, ks, cs, own);
  for (std::int64_t first_k = ks.begin; first_k < ks.end; first_k += kBlock) {
    for (std::int64_t first_c = cs.begin; first_c < cs.end; first_c += kBlock) {
      rewriting.rewrite(first_k, first_c);
    }
  }
}

}  // namespace loopbrick
