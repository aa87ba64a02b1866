#pragma once
#include <cstdint>

#include "loops/contraction.h"
#include "loops/weights.h"

namespace loopbrick {

/// Weights as the forward pass has them, [k / block][c][block], rewritten for backward by data,
/// whose columns are c and whose depth is k.
struct TransposedWeights {
  std::int64_t k = 1, c = 1;
  std::int64_t block = 1;  ///< of k
  WeightLayout to;         ///< its columns (k) run over c, its depth (c) over k

  /// Where weight (k, c) lies in the forward layout.
  Access from() const;

  /// Where it lies behind run.
  Access access() const;

  /// Both arrays are 64-byte aligned; `threads` OpenMP threads share the blocks.
  void run(const float* forward, float* own, int threads) const noexcept;
};

}  // namespace loopbrick
