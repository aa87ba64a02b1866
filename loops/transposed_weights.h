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

  /// Where weight (k, c) lies in the forward layout.
  Access from() const;

  /// Where it lies behind a run, counted from the first weight of the panel.
  Access access() const;

  /// Rewrites all weights; `threads` OpenMP threads share c. Both arrays are 64-byte aligned.
  void run(const float* forward, float* own, int threads) const noexcept;

  /// Rewrites one panel. Needs  ranges that begin at multiples of to.depth and to.tile.
  void run(const float* forward, const Range& ks, const Range& cs, float* own) const noexcept;

 private:
  void rewrite(const float* forward, const Range& ks, const Range& cs, std::int64_t first_k,
               std::int64_t first_c, float* own) const noexcept;
};

}  // namespace loopbrick
