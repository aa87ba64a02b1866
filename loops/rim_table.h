#pragma once
#include <cstdint>
#include <vector>

#include "loops/ranges.h"

namespace loopbrick {

/// The batch entries of one filter-column window: the columns of a call's row tile that `taps`
/// touch.
struct TapGroup {
  RowWindow window;
  std::vector<std::int64_t> taps;  ///< filter columns, counted from the first of the call
};

/// What the rim does to one row tile: its size, and the taps in groups that share a window. One
/// group over the whole tile where no tap lies on padding. Empty where every tap lies on padding
/// only.
struct RowPattern {
  std::int64_t rows = 0;
  std::vector<TapGroup> groups;
};

/// Which pattern of filter columns (and which piece of the filter rows) each call meets, looked up
/// by where it starts.
///
/// Units   pixels and taps.
class RimTable {
 public:
  /// Rows tiled by `row_steps` and lines by `line_steps`; taps by `s_steps` and `r_steps`.
  /// `borders` empty: nothing lies on padding, then only sizes matter.
  struct Tiling {
    std::int64_t rows = 1, lines = 1, taps_across = 1, taps_down = 1;
    Steps row_steps, line_steps, s_steps, r_steps;
  };
  RimTable(const Tiling& tiling, const Border* down, const Border* across,
           std::vector<std::int64_t> row_sizes);

  const std::vector<RowPattern>& patterns() const { return patterns_; }
  const std::vector<Range>& tap_rows() const { return tap_rows_; }

  /// The pattern of the tile of `rows` rows that starts at `row`, under the taps from `tap` on.
  int pattern(std::int64_t row, std::int64_t rows, std::int64_t tap) const;

  /// The piece of the filter rows [first, end) that lies on the image for output line `line`,
  /// relative to `first`.
  int tap_rows_of(std::int64_t line, std::int64_t first) const;

 private:
  void find_patterns(const Tiling& tiling, const Border* across,
                     const std::vector<std::int64_t>& row_sizes);
  void find_tap_rows(const Tiling& tiling, const Border* down);
  int add(const RowPattern& pattern);
  int add(const Range& range);

  std::vector<RowPattern> patterns_;
  std::vector<Range> tap_rows_;
  std::vector<std::int16_t> pattern_at_;    ///< [tap piece][row]; empty: by size
  std::vector<std::int16_t> tap_rows_at_;   ///< [tap piece][line]; empty: by piece
  std::vector<std::int32_t> piece_across_;  ///< number of the tap piece that starts at a tap
  std::vector<std::int32_t> piece_down_;
  std::vector<std::int64_t> sizes_;
  std::int64_t rows_ = 0;
  std::int64_t lines_ = 0;
};

}  // namespace loopbrick
