#pragma once
#include <cstdint>

#include "loops/contraction.h"
#include "loops/ranges.h"
#include "loops/weights.h"

namespace loopbrick {

struct Step;

/// The weights of a pass backward by data. They come as the forward pass wants them; every run
/// rewrites them with c as the vector dimension and the filter's taps counted backwards, all at
/// once or panel by panel.
///
/// Shapes  [c / tile][k / depth][r][s][depth][tile].
struct TransposedWeights {
  WeightLayout from;
  WeightLayout to;  ///< of all or of the largest panel; its columns (k) run over c, its depth (c)
                    ///< over k
  std::int64_t step_down = 1, step_across = 1;  ///< between taps of a phase
  PixelGroup group;                             ///< its columns and taps are those of `to`

  /// Those of the step: the largest panel that the loops left of its pack(w') leave, without one
  /// all.
  static TransposedWeights of(const Contraction& contraction, const Step& step);

  /// Where a weight lies behind a run, counted from the first weight of the panel and the first tap
  /// of its phase.
  Access access() const;

  /// Of the first tap of a phase.
  std::int64_t origin(const Phase& phase) const;

  /// Rewrites all weights; `threads` OpenMP threads share c (one thread makes the few columns of
  /// grouped pixels). Both arrays are 64-byte aligned.
  void run(const float* forward, float* own, int threads) const noexcept;

  /// Rewrites one panel. Needs  ranges that begin at multiples of to.depth and to.tile.
  void run(const float* forward, const Range& ks, const Range& cs, float* own) const noexcept;
};

}  // namespace loopbrick
