#pragma once
#include <array>

#include "loops/contraction.h"
#include "loops/schedule.h"
#include "tuner/region.h"

namespace loopbrick {

/// What the slowest thread gets of a dealt grid.
struct Shares {
  Region of_axis;        ///< share of each axis, 1: all of it
  double of_work = 1.0;  ///< share of all work

  /// Work of the slowest thread over the mean.
  double imbalance(int threads) const;
};

Shares shares_of_slowest(const Contraction& contraction, const Step& step, int threads);

}  // namespace loopbrick
