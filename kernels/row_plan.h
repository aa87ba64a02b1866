#pragma once
#include <vector>

#include "kernels/brgemm_spec.h"

namespace loopbrick {

/// `times` register tiles of `rows` rows one below the other; they differ in their addresses only.
struct RowRun {
  int first = 0;  ///< row of C at which the first of them starts
  int rows = 0;
  int times = 1;

  friend bool operator==(const RowRun&, const RowRun&) = default;
};

/// How a kernel walks the m rows: the runs cover `repeat_lines` lines and are repeated `repeats`
/// times.
struct RowPlan {
  std::vector<RowRun> runs;
  int repeat_lines = 1;
  int repeats = 1;

  friend bool operator==(const RowPlan&, const RowPlan&) = default;
};

/// The fewest parts of at most `most` that sum to `total`, as equal as possible, the larger first:
/// 14 by 6 is 5 + 5 + 4.
std::vector<int> split_evenly(int total, int most);

/// Rows are dealt to tiles of at most `most_rows`. Few tiles are laid out one by one and may cross
/// lines; many are rolled into loops, in which no tile crosses a line.
RowPlan row_plan(const BrgemmSpec& spec, int most_rows);

/// Rows of one line, and lines: line 0 stands for one line of m rows.
int line_rows(const BrgemmSpec& spec);
int line_count(const BrgemmSpec& spec);

/// Whether entries of this window group touch row i.
bool is_active(const BrgemmSpec& spec, int window, int row);

/// Window groups: one if the spec names none.
int group_count(const BrgemmSpec& spec);

/// Where row i starts, in elements from the first row.
std::int64_t a_offset(const BrgemmSpec& spec, int row);
std::int64_t c_offset(const BrgemmSpec& spec, int row);

}  // namespace loopbrick
