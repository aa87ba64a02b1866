#include "tuner/shares.h"

#include <algorithm>

namespace loopbrick {

namespace {

/// Cells of the grid of parallel loops.
struct Grid {
  double cells = 1.0;   ///< whole ones and shorter ones at the borders
  double volume = 1.0;  ///< in whole cells
  int last = -1;        ///< place of the innermost parallel loop
  bool is_flat = false;
};

/// Runs of cells, the last letter of the grid fastest.
void deal_flat(const Contraction& contraction, const Step& step, const Grid& grid, int threads,
               Shares& shares) {
  const double most = parts(grid.cells, threads);
  double left = most;
  for (int i = grid.last; i >= 0 && left > 0.0; --i) {
    const Loop* loop = loop_at(step, i);
    if (loop == nullptr || !loop->parallel) continue;
    Region region = whole_region(contraction);
    for (int outer = 0; outer < i; ++outer) {
      const Loop* around_it = loop_at(step, outer);
      if (around_it != nullptr) shrink(region, *around_it, around_it->step);
    }
    const double size = around(region, *loop);
    const double length = std::min<double>(loop->step, size);
    const double own = std::min(parts(size, length), left);
    shares.of_axis[loop->axis] = std::min(1.0, own * length / size);
    left = parts(left, own);
  }
  shares.of_work = std::min(1.0, most / grid.volume);
}

}  // namespace

double Shares::imbalance(int threads) const { return std::max(1.0, of_work * threads); }

Shares shares_of_slowest(const Contraction& contraction, const Step& step, int threads) {
  Shares shares;
  shares.of_axis.size.fill(1.0);
  Region region = whole_region(contraction);
  Grid grid;
  for (int i = 0; i < step.elements.size(); ++i) {
    const Loop* loop = loop_at(step, i);
    if (loop == nullptr) continue;
    const double size = around(region, *loop);
    const double length = std::min<double>(loop->step, size);
    if (loop->parallel) {
      const double rounds = parts(size, length);
      grid.cells *= rounds;
      grid.volume *= size / length;
      grid.is_flat = grid.is_flat || loop->ways == 0;
      grid.last = i;
      if (loop->ways != 0) {
        const double own = std::min(1.0, parts(rounds, loop->ways) * length / size);
        shares.of_axis[loop->axis] *= own;
        shares.of_work *= own;
      }
    }
    shrink(region, *loop, length);
  }
  if (grid.is_flat) deal_flat(contraction, step, grid, threads, shares);
  return shares;
}

}  // namespace loopbrick
