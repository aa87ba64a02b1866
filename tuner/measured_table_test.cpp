#include "tuner/measured_table.h"

#include <gtest/gtest.h>

#include "tuner/test_store.h"

namespace loopbrick {
namespace {

class MeasuredTableTest : public testing::Test {
 protected:
  MeasuredTableTest() {
    request_.layers = {layer_};
    request_.conditions = {.threads = 1, .isa = best_isa()};
    request_.station = test_.station();
    request_.bench.in_process = true;
    request_ = table_request(request_, 12);
    request_.finalists = 4;
    request_.rounds = 3;
  }

  TestStore test_;
  Layer layer_{.label = "small", .problem = parse_problem("mb1ic16ih4oc32oh4kh1ph0")};
  TuneRequest request_;
};

TEST_F(MeasuredTableTest, ATuneOfAPartFillsItsTable) {
  EXPECT_EQ(measured_table(request_, layer_, test_.store()).table.rows.size(), 0U);
  const TuneReport report = tune(request_, test_.store(), {});
  const MeasuredTable measured = measured_table(request_, layer_, test_.store());
  EXPECT_EQ(measured.missing, 0);
  EXPECT_GE(measured.table.rows.size(), 6U);
  EXPECT_LE(measured.table.rows.size(), 12U);
  EXPECT_EQ(report.layers[0].trials, static_cast<std::int64_t>(measured.table.rows.size()));
  EXPECT_DOUBLE_EQ(best_seconds(measured.table), report.layers[0].seconds);
  const std::string text = to_string(measured.table);
  EXPECT_EQ(to_string(parse_timing_table("small", text)), text);
}

TEST_F(MeasuredTableTest, AStoppedTuneLeavesPointsMissingAndTheNextGoesOn) {
  std::atomic<bool> stop = false;
  TuneWatcher watcher{.stop = &stop};
  watcher.progress = [&](const TuneProgress& progress) { stop = progress.trials == 2; };
  tune(request_, test_.store(), watcher);
  EXPECT_EQ(measured_table(request_, layer_, test_.store()).table.rows.size(), 2U);
  EXPECT_GT(measured_table(request_, layer_, test_.store()).missing, 0);
  const TuneReport rest = tune(request_, test_.store(), {});
  const MeasuredTable whole = measured_table(request_, layer_, test_.store());
  EXPECT_EQ(whole.missing, 0);
  EXPECT_EQ(rest.layers[0].trials + 2, static_cast<std::int64_t>(whole.table.rows.size()));
}

TEST_F(MeasuredTableTest, PredictionsAreRenewedAndTimesKept) {
  tune(request_, test_.store(), {});
  const TimingTable before = measured_table(request_, layer_, test_.store()).table;
  TimingTable after = before;
  after.rows[0].schedule = "of an older space";
  request_.station.limits.peak_flops *= 0.5;
  request_.station.limits.clock_hz *= 0.5;
  EXPECT_EQ(predict_again(request_, layer_, after), 1);
  EXPECT_EQ(after.rows[0].predicted, before.rows[0].predicted);
  EXPECT_EQ(after.facts.size(), before.facts.size());
  EXPECT_NE(after.facts, before.facts);
  for (std::size_t i = 1; i < after.rows.size(); ++i) {
    EXPECT_GT(after.rows[i].predicted, 1.2 * before.rows[i].predicted);
    EXPECT_EQ(after.rows[i].seconds, before.rows[i].seconds);
  }
}

/// Between search and rounds the machine became twice as fast: what lost the search has not won.
TEST_F(MeasuredTableTest, DriftBetweenSearchAndRoundsMakesNoUnconfirmedScheduleTheBest) {
  tune(request_, test_.store(), {});
  const TimingTable before = measured_table(request_, layer_, test_.store()).table;
  const TrialContext context{
      .problem = layer_.problem, .conditions = request_.conditions, .station = request_.station};
  std::int64_t confirmed = 0;
  for (const TrialRecord& trial : test_.store().trials(key_of(context, false))) {
    Measured slower = trial.search;
    slower.median = 3.0 * trial.search.median;
    if (++confirmed <= 2) test_.store().confirm(trial.id, slower, 1.0, {});
  }
  const TimingTable after = measured_table(request_, layer_, test_.store()).table;
  for (const TimingRow& row : after.rows) EXPECT_GE(row.seconds, best_seconds(after));
}

}  // namespace
}  // namespace loopbrick
