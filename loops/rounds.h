#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "loops/contraction.h"
#include "loops/ranges.h"
#include "loops/schedule.h"

namespace loopbrick {

/// The innermost rounds of a step's loops as ranges of its axes, dealt to threads as a Nest deals
/// them: parallel loops are one grid in equal contiguous runs, or have /ways of their own.
///
/// Needs    why_not has nothing against the step; it packs nothing and is dealt out evenly.
/// Threads  visit may be called at once.
class Rounds {
 public:
  Rounds(const Step& step, int threads);

  /// visit() for every round of thread `number`, which finds it in `ranges`. Axes without a loop
  /// keep the range they have.
  template <typename Visit>
  void visit(int number, Ranges& ranges, Visit&& visit) const {
    walk(0, number, ranges, visit);
  }

 private:
  struct Level {
    std::size_t axis = 0;
    std::int64_t step = 1;
    std::int64_t ways = 0;
    std::int64_t inner_ways = 1;  ///< of the loops of the grid behind this one
    std::size_t grid = 0;         ///< parallel loops from here on; 0: a serial loop
    bool rotated = false;

    std::int64_t rounds(const Range& whole) const { return (whole.size() + step - 1) / step; }
    Range round(const Range& whole, std::int64_t at) const {
      const std::int64_t begin = whole.begin + at * step;
      return {begin, std::min(begin + step, whole.end)};
    }
  };

  template <typename Visit>
  void walk(std::size_t at, int number, Ranges& ranges, Visit& visit) const {
    if (at == levels_.size()) return visit();
    const Level& level = levels_[at];
    const std::int64_t count = level.rounds(ranges[level.axis]);
    if (level.grid == 0) {
      const std::int64_t first = level.rotated ? count * number / threads_ : 0;
      return walk_run(at, number, ranges, {first, first + count}, visit);
    }
    if (level.ways == 0) return walk_cells(at, number, ranges, visit);
    const std::int64_t way = number / level.inner_ways % level.ways;
    walk_run(at, number, ranges, {count * way / level.ways, count * (way + 1) / level.ways}, visit);
  }

  /// Rounds `run` of one loop; beyond the last one they start again.
  template <typename Visit>
  void walk_run(std::size_t at, int number, Ranges& ranges, const Range& run, Visit& visit) const {
    const Level& level = levels_[at];
    const Range whole = ranges[level.axis];
    const std::int64_t count = level.rounds(whole);
    for (std::int64_t i = run.begin; i < run.end; ++i) {
      ranges[level.axis] = level.round(whole, i < count ? i : i - count);
      walk(at + 1, number, ranges, visit);
    }
    ranges[level.axis] = whole;
  }

  template <typename Visit>
  void walk_cells(std::size_t at, int number, Ranges& ranges, Visit& visit) const {
    const std::size_t loops = levels_[at].grid;
    const Ranges whole = ranges;
    std::int64_t cells = 1;
    for (std::size_t i = at; i < at + loops; ++i)
      cells *= levels_[i].rounds(whole[levels_[i].axis]);
    const std::int64_t end = cells * (number + 1) / threads_;
    for (std::int64_t cell = cells * number / threads_; cell < end; ++cell) {
      std::int64_t left = cell;
      for (std::size_t i = at + loops; i-- > at;) {
        const Level& level = levels_[i];
        const std::int64_t count = level.rounds(whole[level.axis]);
        ranges[level.axis] = level.round(whole[level.axis], left % count);
        left /= count;
      }
      walk(at + loops, number, ranges, visit);
    }
    ranges = whole;
  }

  std::vector<Level> levels_;
  int threads_ = 1;
};

}  // namespace loopbrick
