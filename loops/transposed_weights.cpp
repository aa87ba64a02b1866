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
      : weights_(weights),
        forward_(forward),
        own_(own),
        ks_(ks),
        cs_(cs),
        from_(weights.from.access()),
        to_(weights.to.access()) {}

  /// All columns of grouped pixels.
  void rewrite_groups() const {
    for (std::int64_t k = ks_.begin; k < ks_.end; ++k) {
      for (std::int64_t column = cs_.begin; column < cs_.end; ++column) {
        for (std::int64_t r = 0; r < weights_.to.r; ++r) {
          for (std::int64_t t = 0; t < weights_.to.s; ++t) {
            *target(k, column, r, t) = grouped(k, column, r, t);
          }
        }
      }
    }
  }

  /// 16 rows of c, piece by piece in the order in which they lie in memory.
  void rewrite_rows(std::int64_t first_c) const {
    const WeightLayout& from = weights_.from;
    const bool lie_together = first_c + kBlock <= cs_.end &&
                              first_c % from.depth + kBlock <= from.depth &&
                              (first_c - cs_.begin) % weights_.to.tile + kBlock <= weights_.to.tile;
    for (Range k{ks_.begin, 0}; k.begin < ks_.end; k.begin = k.end) {
      k.end = std::min(ks_.end, (k.begin / from.tile + 1) * from.tile);
      for (std::int64_t tap = 0; tap < taps(); ++tap) {
        if (!lie_together) {
          elements(k, first_c, tap);
          continue;
        }
        fetch_behind(k, first_c, tap);
        rewrite_piece(k, first_c, tap);
      }
    }
  }

 private:
  std::int64_t taps() const { return weights_.from.r * weights_.from.s; }

  /// Prefetches the piece that follows this one: a few lines of each row, far apart from it.
  void fetch_behind(const Range& k, std::int64_t first_c, std::int64_t tap) const {
    const bool is_last_tap = tap + 1 == taps();
    if (is_last_tap && k.end >= ks_.end) return;
    const float* next = source(is_last_tap ? k.end : k.begin, first_c, is_last_tap ? 0 : tap + 1);
    for (std::int64_t row = 0; row < kBlock; ++row) {
      const float* line = next + row * weights_.from.tile;
      for (std::int64_t i = 0; i < k.size(); i += kBlock) {
        _mm_prefetch(reinterpret_cast<const char*>(line + i), _MM_HINT_T0);
      }
    }
  }

  /// One block of the k of the forward layout under one tap, 16 x 16 weights at a time.
  void rewrite_piece(const Range& k, std::int64_t first_c, std::int64_t tap) const {
    const float* corner = source(k.begin, first_c, tap);
    float* const column = target(ks_.begin, first_c, tap);
    const AxisAccess& along_k = to_[place(Axis::c)];
    for (std::int64_t at = k.begin; at < k.end; at += kBlock, corner += kBlock) {
      const std::int64_t behind = at - ks_.begin;
      if (at + kBlock <= k.end && behind % weights_.to.depth + kBlock <= weights_.to.depth) {
        whole_block(corner, column + along_k.offset(behind));
      } else {
        elements({at, std::min(at + kBlock, k.end)}, first_c, tap);
      }
    }
  }

  const float* source(std::int64_t ik, std::int64_t ic, std::int64_t r, std::int64_t s) const {
    return forward_ + from_[place(Axis::k)].offset(ik) + from_[place(Axis::c)].offset(ic) +
           from_[place(Axis::r)].offset(r) + from_[place(Axis::s)].offset(s);
  }
  const float* source(std::int64_t ik, std::int64_t ic, std::int64_t tap) const {
    const std::int64_t back = taps() - 1 - tap;
    return source(ik, ic, back / weights_.from.s, back % weights_.from.s);
  }
  float grouped(std::int64_t k, std::int64_t column, std::int64_t r, std::int64_t t) const {
    const std::int64_t s = weights_.group.filter_tap(column / weights_.from.c, t);
    return s < 0 ? 0.0F : *source(k, column % weights_.from.c, weights_.from.r - 1 - r, s);
  }
  float* target(std::int64_t ik, std::int64_t ic, std::int64_t r, std::int64_t s) const {
    return own_ + to_[place(Axis::c)].offset(ik - ks_.begin) +
           to_[place(Axis::k)].offset(ic - cs_.begin) + to_[place(Axis::r)].offset(r) +
           to_[place(Axis::s)].offset(s);
  }
  float* target(std::int64_t ik, std::int64_t ic, std::int64_t tap) const {
    return target(ik, ic, tap / weights_.from.s, tap % weights_.from.s);
  }

  void whole_block(const float* corner, float* row) const {
    std::array<float*, kBlock> rows;
    for (float*& each : rows) {
      each = row;
      row += weights_.to.tile;
    }
    const std::int64_t pitch = weights_.from.tile;
    for (std::int64_t ik = 0; ik < kBlock; ik += kQuad) {
      for (std::int64_t ic = 0; ic < kBlock; ic += kQuad) {
        transpose_quad(corner + ic * pitch + ik, pitch, rows.data() + ik, ic);
      }
    }
  }

  /// 16 rows of c or what is left of them.
  void elements(const Range& k, std::int64_t first_c, std::int64_t tap) const {
    for (std::int64_t ik = k.begin; ik < k.end; ++ik) {
      for (std::int64_t ic = first_c; ic < std::min(cs_.end, first_c + kBlock); ++ic) {
        *target(ik, ic, tap) = *source(ik, ic, tap);
      }
    }
  }

  const TransposedWeights& weights_;
  const float* forward_;
  float* own_;
  Range ks_, cs_;
  Access from_, to_;
};

std::int64_t whole_if_zero(std::int64_t block, std::int64_t extent) {
  return block == 0 ? extent : block;
}

}  // namespace

TransposedWeights TransposedWeights::of(const Contraction& contraction, const Step& step) {
  const std::int64_t k = contraction.extent(contraction.depth);
  const std::int64_t c = contraction.extent(contraction.columns);
  const bool is_panel = packs_weights(step);
  return {
      .from = {.k = k,
               .c = c / contraction.group.pixels,
               .r = contraction.filter_down,
               .s = contraction.filter_across,
               .tile = whole_if_zero(contraction.depth_block, k),
               .depth = whole_if_zero(contraction.columns_block, c / contraction.group.pixels)},
      .to = {.k = is_panel ? range_before_pack(contraction, step, contraction.columns) : c,
             .c = is_panel ? range_before_pack(contraction, step, contraction.depth) : k,
             .r = contraction.filter_down,
             .s = contraction.group.pixels > 1 ? contraction.group.taps : contraction.filter_across,
             .tile = tile_columns(contraction, step),
             .depth = entry_depth(contraction, step)},
      .step_down = contraction.tap_step_down,
      .step_across = contraction.tap_step_across,
      .group = contraction.group};
}

Access TransposedWeights::access() const {
  Access access = to.access();
  std::swap(access[place(Axis::k)], access[place(Axis::c)]);
  access[place(Axis::r)].inner *= step_down;
  access[place(Axis::s)].inner *= step_across;
  return access;
}

std::int64_t TransposedWeights::origin(const Phase& phase) const {
  const Access access = to.access();
  return access[place(Axis::r)].offset(phase.first_down) +
         access[place(Axis::s)].offset(phase.first_across);
}

void TransposedWeights::run(const float* forward, float* own, int threads) const noexcept {
  if (group.pixels > 1) return run(forward, {0, from.k}, {0, from.c * group.pixels}, own);
  const Rewriting rewriting(*this, forward, {0, from.k}, {0, from.c}, own);
  // Threads share c, as a nest that begins with C does: what one wrote, it reads itself.
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t first_c = 0; first_c < from.c; first_c += kBlock) {
    rewriting.rewrite_rows(first_c);
  }
}

void TransposedWeights::run(const float* forward, const Range& ks, const Range& cs,
                            float* own) const noexcept {
  const Rewriting rewriting(*this, forward, ks, cs, own);
  if (group.pixels > 1) return rewriting.rewrite_groups();
  for (std::int64_t first_c = cs.begin; first_c < cs.end; first_c += kBlock) {
    rewriting.rewrite_rows(first_c);
  }
}

}  // namespace loopbrick
