#include "loops/rounds.h"

namespace loopbrick {

Rounds::Rounds(const Step& step, int threads) : threads_(threads) {
  bool may_rotate = step.marks.rotate != Axis::none;
  for (const Element& element : step.elements) {
    const Loop& loop = element.loop;
    Level level{.axis = place(loop.axis), .step = loop.step, .ways = loop.ways};
    if (loop.parallel) level.grid = 1;
    if (!loop.parallel && may_rotate && loop.axis == step.marks.rotate) {
      level.rotated = true;
      may_rotate = false;
    }
    levels_.push_back(level);
  }
  for (std::size_t i = levels_.size(); i-- > 1;) {
    Level& before = levels_[i - 1];
    const Level& level = levels_[i];
    if (before.grid == 0 || level.grid == 0) continue;
    before.grid += level.grid;
    before.inner_ways = level.inner_ways * std::max<std::int64_t>(level.ways, 1);
  }
}

}  // namespace loopbrick
