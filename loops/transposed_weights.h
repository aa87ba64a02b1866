#pragma once
#include <cstdint>

#include "loops/contraction.h"
#include "loops/ranges.h"
#include "loops/weights.h"

namespace loopbrick {

/// Weights as the forward pass has them, [k / block][c][block], rewritten for backward by data,
/// whose columns are c and whose depth is k: all of them, or the panel that some loops read.
struct TransposedWeights {
  std::int64_t k = 1, c = 1;
  std::int64_t block = 1;  ///< of k
  WeightLayout
      to;  ///< of all or of the largest panel; its columns (k) run over c, its depth (c) over k

  /// Those of the step: the largest panel that the loops left of its pack(w') leave, without one
  /// all.
  static TransposedWeights of(const Contraction& contraction, const Step& step);

  /// Where weight (k, c) lies in the forward layout.
  Access from() const;

  /// Where it lies behind a run, counted from the first weight of the panel.
  Access access() const;

  /// Rewrites all weights; `threads` OpenMP threads share c. Both arrays are 64-byte aligned.
  void run(const float* forward, float* own, int threads) const noexcept;

  /// Rewrites one panel. Needs  ranges that begin at multiples of to.depth and to.tile.
  void run(const float* forward, const Range& ks, const Range& cs, float* own) const noexcept;
};

}  // namespace loopbrick
