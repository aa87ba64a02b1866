#include "kernels/row_plan.h"

namespace loopbrick {
namespace {

/// More tiles than these are rolled into loops: about what the op cache holds.
constexpr int kStaticTiles = 12;
/// A run of fewer tiles costs less as straight code than as a loop with its counter.
constexpr int kRolledTiles = 4;

int divide_up(int total, int part) { return (total + part - 1) / part; }

/// The most lines that divide the line count and whose rows fit in the static tiles; at least one.
int lines_per_repeat(const BrgemmSpec& spec, int most_rows) {
  const int lines = line_count(spec);
  const auto most_static_rows = static_cast<std::int64_t>(kStaticTiles) * most_rows;
  for (int some = lines; some > 1; --some) {
    const std::int64_t rows = static_cast<std::int64_t>(some) * line_rows(spec);
    if (lines % some == 0 && rows <= most_static_rows) return some;
  }
  return 1;
}

/// Whether every window group touches the same rows of both tiles.
bool same_windows(const BrgemmSpec& spec, int first, int other, int rows) {
  for (int window = 0; window < group_count(spec); ++window) {
    for (int row = 0; row < rows; ++row) {
      if (is_active(spec, window, first + row) != is_active(spec, window, other + row)) {
        return false;
      }
    }
  }
  return true;
}

/// How many of the parts from `index` on are alike, so that one piece of code can serve them all.
int alike(const BrgemmSpec& spec, const std::vector<int>& parts, std::size_t index, int first) {
  const int rows = parts[index];
  int times = 1;
  while (index + static_cast<std::size_t>(times) < parts.size() &&
         parts[index + static_cast<std::size_t>(times)] == rows &&
         same_windows(spec, first, first + times * rows, rows)) {
    ++times;
  }
  return times;
}

/// Within one line equal tiles become runs; across lines each tile has addresses of its own.
std::vector<RowRun> runs_of(const BrgemmSpec& spec, const std::vector<int>& parts, bool one_line) {
  std::vector<RowRun> runs;
  int first = 0;
  for (std::size_t i = 0; i < parts.size();) {
    const int times = one_line ? alike(spec, parts, i, first) : 1;
    const int taken = times >= kRolledTiles ? times : 1;
    runs.push_back({.first = first, .rows = parts[i], .times = taken});
    first += taken * parts[i];
    i += static_cast<std::size_t>(taken);
  }
  return runs;
}

}  // namespace

std::vector<int> split_evenly(int total, int most) {
  const int parts = divide_up(total, most);
  std::vector<int> sizes(static_cast<std::size_t>(parts), total / parts);
  for (int i = 0; i < total % parts; ++i) ++sizes[static_cast<std::size_t>(i)];
  return sizes;
}

RowPlan row_plan(const BrgemmSpec& spec, int most_rows) {
  RowPlan plan;
  plan.repeat_lines = lines_per_repeat(spec, most_rows);
  plan.repeats = line_count(spec) / plan.repeat_lines;
  const std::vector<int> parts = split_evenly(plan.repeat_lines * line_rows(spec), most_rows);
  plan.runs = runs_of(spec, parts, plan.repeat_lines == 1);
  return plan;
}

int line_rows(const BrgemmSpec& spec) { return spec.line == 0 ? spec.m : spec.line; }

int line_count(const BrgemmSpec& spec) { return spec.m / line_rows(spec); }

bool is_active(const BrgemmSpec& spec, int window, int row) {
  if (spec.windows.empty()) return true;
  const int place = row % line_rows(spec);
  return place >= spec.windows[window].first && place < spec.windows[window].last;
}

int group_count(const BrgemmSpec& spec) { return spec.windows.empty() ? 1 : spec.windows.size(); }

std::int64_t a_offset(const BrgemmSpec& spec, int row) {
  const int line = line_rows(spec);
  return row / line * spec.a_line_stride + row % line * spec.a_row_stride;
}

std::int64_t c_offset(const BrgemmSpec& spec, int row) {
  const int line = line_rows(spec);
  return row / line * spec.c_line_stride + row % line * spec.ldc;
}

}  // namespace loopbrick
