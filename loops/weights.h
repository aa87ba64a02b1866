#pragma once
#include <cstdint>
#include <span>

#include "loops/contraction.h"

namespace loopbrick {

/// How a plan lays out the weights [k][c][r][s]: [k / tile][c / depth][r][s][depth][tile], so that
/// one batch entry of one call is one dense block; with `columns_first` [k / tile][s][c /
/// depth][r][depth][tile], the order in which row windows take the filter. Tails of k and c are
/// padded with zeros that no kernel reads.
struct WeightLayout {
  std::int64_t k = 1, c = 1, r = 1, s = 1;
  std::int64_t tile = 1;
  std::int64_t depth = 1;
  bool columns_first = false;

  std::int64_t elements() const;
  Access access() const;

  void lay_out(std::span<const float> oihw, std::span<float> own, int threads) const;
};

}  // namespace loopbrick
