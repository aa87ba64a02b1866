#include "loops/ranges.h"

#include <algorithm>

namespace loopbrick {

namespace {

void add_once(std::vector<std::int64_t>& to, std::int64_t size) {
  if (size > 0 && std::find(to.begin(), to.end(), size) == to.end()) to.push_back(size);
}

void add_tiles(const Range& range, const Steps& steps, int level, std::vector<Range>& to) {
  if (level == steps.size()) {
    to.push_back(range);
    return;
  }
  for (std::int64_t at = range.begin; at < range.end; at += steps[level]) {
    add_tiles({at, std::min(at + steps[level], range.end)}, steps, level + 1, to);
  }
}

std::int64_t ceil_div(std::int64_t value, std::int64_t by) {
  return value >= 0 ? (value + by - 1) / by : -(-value / by);
}

}  // namespace

std::vector<std::int64_t> tile_sizes(std::vector<std::int64_t> sizes, const Steps& steps) {
  for (const std::int64_t step : steps) {
    std::vector<std::int64_t> inner;
    for (const std::int64_t size : sizes) {
      if (size >= step) add_once(inner, step);
      add_once(inner, size % step);
    }
    sizes = inner;
  }
  return sizes;
}

std::vector<Range> tiles(std::int64_t extent, const Steps& steps) {
  std::vector<Range> all;
  add_tiles({0, extent}, steps, 0, all);
  return all;
}

Range on_image(const Border& border, const Range& outs, std::int64_t tap) {
  // 0 <= o * stride + shift < extent
  const std::int64_t shift = border.input(0, tap);
  const std::int64_t first = std::max(outs.begin, ceil_div(-shift, border.stride));
  const std::int64_t last = std::min(outs.end, ceil_div(border.extent - shift, border.stride));
  return {first, std::max(first, last)};
}

std::int64_t pairs_on_image(const Border& border, std::int64_t outs, std::int64_t taps) {
  std::int64_t pairs = 0;
  for (std::int64_t tap = 0; tap < taps; ++tap) pairs += on_image(border, {0, outs}, tap).size();
  return pairs;
}

}  // namespace loopbrick
