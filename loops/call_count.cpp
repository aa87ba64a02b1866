#include "loops/call_count.h"

#include <algorithm>

#include "kernels/text.h"
#include "loops/ranges.h"
#include "loops/step_facts.h"

namespace loopbrick {

namespace {

/// How many tiles(extent, steps) there are, without listing them.
std::int64_t count_tiles(std::int64_t extent, const Steps& steps, int level = 0) {
  if (level == steps.size()) return 1;
  const std::int64_t step = steps[level];
  const std::int64_t rest = extent % step;
  const std::int64_t whole = extent / step;
  const std::int64_t in_whole =
      whole == 0 ? 0 : saturating_product(whole, count_tiles(step, steps, level + 1));
  return rest == 0 ? in_whole : saturating_sum(in_whole, count_tiles(rest, steps, level + 1));
}

/// Flattened pixels are cut anew in every range of lines that the loops over lines leave.
std::int64_t count_flattened(const Contraction& to, const Step& step) {
  std::int64_t count = 0;
  for (const Range& lines : tiles(to.extent(to.line), steps_over(step, to.line))) {
    count += count_tiles(lines.size() * to.extent(to.row), steps_over_flattened(step));
  }
  return count;
}

/// Rounds over the pixels that some tap meets, over all taps.
std::int64_t count_clipped(const Contraction& to, const Step& step, const Border& clip) {
  const int at = place_of_loop(step, clip.tap);
  std::int64_t count = 0;
  for (std::int64_t tap = 0; tap < to.extent(clip.tap); ++tap) {
    for (const Range& round : tiles(to.extent(clip.out), steps_before(step, clip.out, at))) {
      count += count_tiles(on_image(clip, round, tap).size(), steps_behind(step, clip.out, at));
    }
  }
  return count;
}

std::int64_t count_of_phase(const Contraction& to, const Step& step) {
  std::int64_t count = flattens(step) ? count_flattened(to, step) : 1;
  for (const Border& clip : to.clips)
    count = saturating_product(count, count_clipped(to, step, clip));
  for (const auto* axes : {&to.outputs, &to.sums}) {
    for (const Axis axis : *axes) {
      const bool is_flat = flattens(step) && (axis == to.line || axis == to.row);
      const bool is_clipped = !to.clips.empty() && to.is_at_border(place(axis));
      if (is_flat || is_clipped || axis == Axis::f) continue;
      count = saturating_product(count, count_tiles(to.extent(axis), steps_over(step, axis)));
    }
  }
  return count;
}

}  // namespace

std::int64_t count_calls(const Contraction& to, const Step& step) {
  std::int64_t count = 0;
  for (std::size_t phase = 0; phase < std::max<std::size_t>(1, to.phases.size()); ++phase) {
    count = saturating_sum(count, count_of_phase(to.in_phase(phase), step));
  }
  return count;
}

}  // namespace loopbrick
