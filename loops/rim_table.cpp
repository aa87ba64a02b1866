#include "loops/rim_table.h"

#include <algorithm>
#include <numeric>

namespace loopbrick {

namespace {

std::vector<std::int64_t> all_taps(const Range& taps) {
  std::vector<std::int64_t> list(static_cast<std::size_t>(taps.size()));
  std::iota(list.begin(), list.end(), 0);
  return list;
}

RowPattern whole(std::int64_t rows, const Range& taps) {
  return {rows, {{{0, static_cast<int>(rows)}, all_taps(taps)}}};
}

RowPattern pattern_of(const Border& across, const Range& rows, const Range& taps) {
  RowPattern pattern{.rows = rows.size(), .groups = {}};
  for (std::int64_t tap = taps.begin; tap < taps.end; ++tap) {
    const Range valid = on_image(across, rows, tap);
    if (valid.size() == 0) continue;
    const RowWindow window{static_cast<int>(valid.begin - rows.begin),
                           static_cast<int>(valid.end - rows.begin)};
    const auto same = std::find_if(pattern.groups.begin(), pattern.groups.end(),
                                   [&](const TapGroup& group) { return group.window == window; });
    if (same != pattern.groups.end()) {
      same->taps.push_back(tap - taps.begin);
    } else {
      pattern.groups.push_back({window, {tap - taps.begin}});
    }
  }
  return pattern;
}

/// The filter rows in `taps` that lie on the image for `line`, relative to the first of them.
Range rows_on_image(const Border& down, std::int64_t line, const Range& taps) {
  Range valid{0, 0};
  for (std::int64_t tap = taps.begin; tap < taps.end; ++tap) {
    if (on_image(down, {line, line + 1}, tap).size() == 0) continue;
    if (valid.size() == 0) valid.begin = tap - taps.begin;
    valid.end = tap - taps.begin + 1;
  }
  return valid;
}

std::vector<std::int32_t> pieces(const std::vector<Range>& ranges, std::int64_t extent) {
  std::vector<std::int32_t> number(static_cast<std::size_t>(extent), -1);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    number[static_cast<std::size_t>(ranges[i].begin)] = static_cast<std::int32_t>(i);
  }
  return number;
}

}  // namespace

RimTable::RimTable(const Tiling& tiling, const Border* down, const Border* across,
                   std::vector<std::int64_t> row_sizes)
    : sizes_(std::move(row_sizes)), rows_(tiling.rows), lines_(tiling.lines) {
  find_patterns(tiling, across, sizes_);
  find_tap_rows(tiling, down);
}

void RimTable::find_patterns(const Tiling& tiling, const Border* across,
                             const std::vector<std::int64_t>& row_sizes) {
  const std::vector<Range> taps = tiles(tiling.taps_across, tiling.s_steps);
  piece_across_ = pieces(taps, tiling.taps_across);
  if (across == nullptr) {
    for (const Range& piece : taps) {
      for (const std::int64_t size : row_sizes) patterns_.push_back(whole(size, piece));
    }
    return;
  }
  const std::vector<Range> rows = tiles(tiling.rows, tiling.row_steps);
  pattern_at_.assign(taps.size() * static_cast<std::size_t>(tiling.rows), -1);
  for (std::size_t piece = 0; piece < taps.size(); ++piece) {
    for (const Range& tile : rows) {
      const std::size_t at =
          piece * static_cast<std::size_t>(tiling.rows) + static_cast<std::size_t>(tile.begin);
      pattern_at_[at] = static_cast<std::int16_t>(add(pattern_of(*across, tile, taps[piece])));
    }
  }
}

void RimTable::find_tap_rows(const Tiling& tiling, const Border* down) {
  const std::vector<Range> taps = tiles(tiling.taps_down, tiling.r_steps);
  piece_down_ = pieces(taps, tiling.taps_down);
  if (down == nullptr) {
    for (const Range& piece : taps) tap_rows_.push_back({0, piece.size()});
    return;
  }
  tap_rows_at_.assign(taps.size() * static_cast<std::size_t>(tiling.lines), -1);
  for (std::size_t piece = 0; piece < taps.size(); ++piece) {
    for (const Range& tile : tiles(tiling.lines, tiling.line_steps)) {
      const std::size_t at =
          piece * static_cast<std::size_t>(tiling.lines) + static_cast<std::size_t>(tile.begin);
      tap_rows_at_[at] =
          static_cast<std::int16_t>(add(rows_on_image(*down, tile.begin, taps[piece])));
    }
  }
}

int RimTable::add(const RowPattern& pattern) {
  const auto equal = [&](const RowPattern& other) {
    return other.rows == pattern.rows && other.groups.size() == pattern.groups.size() &&
           std::equal(other.groups.begin(), other.groups.end(), pattern.groups.begin(),
                      [](const TapGroup& a, const TapGroup& b) {
                        return a.window == b.window && a.taps == b.taps;
                      });
  };
  const auto same = std::find_if(patterns_.begin(), patterns_.end(), equal);
  const auto place = same - patterns_.begin();
  if (same == patterns_.end()) patterns_.push_back(pattern);
  return static_cast<int>(place);
}

int RimTable::add(const Range& range) {
  const auto same = std::find(tap_rows_.begin(), tap_rows_.end(), range);
  const auto place = same - tap_rows_.begin();
  if (same == tap_rows_.end()) tap_rows_.push_back(range);
  return static_cast<int>(place);
}

int RimTable::pattern(std::int64_t row, std::int64_t rows, std::int64_t tap) const {
  const auto piece = static_cast<std::size_t>(piece_across_[static_cast<std::size_t>(tap)]);
  if (!pattern_at_.empty()) {
    return pattern_at_[piece * static_cast<std::size_t>(rows_) + static_cast<std::size_t>(row)];
  }
  std::size_t size = 0;
  while (sizes_[size] != rows) ++size;
  return static_cast<int>(piece * sizes_.size() + size);
}

int RimTable::tap_rows_of(std::int64_t line, std::int64_t first) const {
  const auto piece = static_cast<std::size_t>(piece_down_[static_cast<std::size_t>(first)]);
  if (tap_rows_at_.empty()) return static_cast<int>(piece);
  return tap_rows_at_[piece * static_cast<std::size_t>(lines_) + static_cast<std::size_t>(line)];
}

}  // namespace loopbrick
