#include "kernels/row_plan.h"

#include <gtest/gtest.h>

namespace loopbrick {
namespace {

BrgemmSpec rows(int m, int line = 0) {
  BrgemmSpec spec;
  spec.m = m;
  spec.line = line;
  return spec;
}

/// Rows of all tiles, each taken as often as its run and the plan say.
int covered(const RowPlan& plan) {
  int sum = 0;
  for (const RowRun& run : plan.runs) sum += run.rows * run.times;
  return sum * plan.repeats;
}

TEST(RowPlan, SplitsAreEvenAndTheLargerPartsComeFirst) {
  EXPECT_EQ(split_evenly(14, 6), (std::vector{5, 5, 4}));
  EXPECT_EQ(split_evenly(28, 6), (std::vector{6, 6, 6, 5, 5}));
  EXPECT_EQ(split_evenly(6, 6), (std::vector{6}));
  EXPECT_EQ(split_evenly(1, 28), (std::vector{1}));
}

TEST(RowPlan, EveryRowIsCoveredOnce) {
  for (int line = 1; line <= 60; ++line) {
    for (int lines = 1; lines <= 40; ++lines) {
      EXPECT_EQ(covered(row_plan(rows(line * lines, line), 6)), line * lines);
    }
  }
}

TEST(RowPlan, FewTilesCrossLines) {
  const RowPlan plan = row_plan(rows(49, 7), 6);
  EXPECT_EQ(plan.repeats, 1);
  EXPECT_EQ(plan.runs.size(), 9U);
  EXPECT_EQ(plan.runs[1], (RowRun{.first = 6, .rows = 6, .times = 1}));
}

TEST(RowPlan, ManyLinesAreRolledInGroupsThatDivideThem) {
  const RowPlan plan = row_plan(rows(7 * 56, 7), 6);
  EXPECT_EQ(plan.repeat_lines, 8);
  EXPECT_EQ(plan.repeats, 7);
}

TEST(RowPlan, ManyEqualTilesOfALineAreRolled) {
  const RowPlan plan = row_plan(rows(112), 6);
  EXPECT_EQ(plan.runs, (std::vector<RowRun>{{.first = 0, .rows = 6, .times = 17},
                                            {.first = 102, .rows = 5, .times = 1},
                                            {.first = 107, .rows = 5, .times = 1}}));
}

TEST(RowPlan, TilesThatAWindowCutsStandAlone) {
  BrgemmSpec spec = rows(60);
  spec.windows = {{1, 60}, {0, 60}, {0, 59}};
  EXPECT_EQ(row_plan(spec, 6).runs, (std::vector<RowRun>{{.first = 0, .rows = 6, .times = 1},
                                                         {.first = 6, .rows = 6, .times = 8},
                                                         {.first = 54, .rows = 6, .times = 1}}));
}

}  // namespace
}  // namespace loopbrick
