#include "tuner/tune.h"

#include <gtest/gtest.h>

#include "tuner/compare.h"
#include "tuner/record.h"
#include "tuner/test_store.h"

// The whole way from a request to the store, with real kernels in this process.

namespace loopbrick {
namespace {

class TuneTest : public testing::Test {
 protected:
  static Layer layer(const std::string& label, const std::string& text, std::int64_t count = 1) {
    return {.label = label, .problem = parse_problem(text), .count = count};
  }

  // One thread: regions of two crawl where others use the machine too.
  Conditions conditions() const { return {.threads = 1, .isa = best_isa()}; }

  TuneRequest request(std::vector<Layer> layers, std::int64_t trials) {
    TuneRequest request;
    request.layers = std::move(layers);
    request.conditions = conditions();
    request.station = test_.station();
    request.budget = {.seconds = 0.0, .trials = trials};
    request.bench.in_process = true;
    return request;
  }

  CompareRequest comparison(const TuneRequest& tuned, std::vector<Arm> arms) {
    CompareRequest request;
    request.layers = tuned.layers;
    request.conditions = tuned.conditions;
    request.station = tuned.station;
    request.arms = std::move(arms);
    request.rounds = {.rounds = 3, .processes = 1, .sample_seconds = 1e-4, .seed = 1};
    request.bench.in_process = true;
    return request;
  }

  TestStore test_;
};

TEST_F(TuneTest, EveryLayerGetsAConfirmedSchedule) {
  const TuneReport report = tune(
      request({layer("a", "mb2ic16ih5oc32oh5kh3ph1"), layer("b", "mb2ic16ih4oc16oh4kh1ph0", 3)},
              16),
      test_.store(), {});
  ASSERT_EQ(report.layers.size(), 2U);
  EXPECT_FALSE(report.interrupted);
  std::int64_t trials = 0;
  for (const TunedLayer& tuned : report.layers) {
    EXPECT_TRUE(tuned.is_confirmed) << tuned.label;
    EXPECT_GT(tuned.seconds, 0.0);
    EXPECT_GT(tuned.trials, 0);
    EXPECT_EQ(tuned.failures, 0) << tuned.label << ": " << tuned.reasons.begin()->first;
    trials += tuned.trials;
  }
  EXPECT_EQ(trials, 16);
}

TEST_F(TuneTest, LayersWithExpectationsHaveASecondTurnWithinTheBudget) {
  std::vector<Layer> layers;
  for (const char* text : {"mb1ic16ih5oc32oh5kh1ph0", "mb1ic32ih4oc16oh4kh1ph0",
                           "mb1ic16ih6oc16oh6kh1ph0", "mb1ic48ih4oc16oh4kh1ph0"})
    layers.push_back(layer(text, text));
  std::vector<std::string> turns;
  const TuneWatcher watcher{.progress = [&](const TuneProgress& progress) {
    if (progress.phase == "prepare") turns.push_back(progress.layer);
  }};
  const TuneReport report = tune(request(layers, 40), test_.store(), watcher);
  ASSERT_EQ(turns.size(), 5U);
  EXPECT_EQ(std::count(turns.begin(), turns.end(), turns.back()), 2);
  std::int64_t trials = 0;
  for (const TunedLayer& tuned : report.layers) {
    EXPECT_TRUE(tuned.is_confirmed);
    EXPECT_EQ(tuned.trials > 10, tuned.label == turns.back()) << tuned.label;
    trials += tuned.trials;
  }
  EXPECT_EQ(report.layers.size(), 4U);
  EXPECT_NEAR(static_cast<double>(trials), 40.0, 1.0);
}

TEST_F(TuneTest, ALayerThatCannotRunIsAReasonAndNotAnEnd) {
  const TuneReport report = tune(
      request({layer("groups", "g2mb1ic8ih5oc8oh5kh1ph0"), layer("b", "mb2ic16ih4oc16oh4kh1ph0")},
              6),
      test_.store(), {});
  ASSERT_EQ(report.layers.size(), 2U);
  EXPECT_NE(report.layers[0].refusal.find("groups"), std::string::npos) << report.layers[0].refusal;
  EXPECT_TRUE(report.layers[1].is_confirmed);
}

TEST_F(TuneTest, AStopEndsAllLayers) {
  std::atomic<bool> stop = true;
  const TuneReport report =
      tune(request({layer("b", "mb2ic16ih4oc16oh4kh1ph0")}, 6), test_.store(), {.stop = &stop});
  EXPECT_TRUE(report.interrupted);
  EXPECT_TRUE(report.layers.empty());
}

TEST_F(TuneTest, CompareTakesTheTunedScheduleAndStoresEveryArm) {
  const TuneRequest tuning = request({layer("b", "mb2ic16ih4oc16oh4kh1ph0", 3)}, 6);
  const TuneReport tuned = tune(tuning, test_.store(), {});
  const Arm other{"loopbrick", "n k16 p q1 @ c16"};
  const CompareReport report = compare(comparison(tuning, {other}), test_.store(), {});
  ASSERT_EQ(report.rows.size(), 2U);
  const CompareRow& ours = report.rows[0];
  const CompareRow& theirs = report.rows[1];
  EXPECT_EQ(ours.impl, "tuned");
  EXPECT_EQ(ours.implementation, tuned.layers[0].schedule);
  EXPECT_EQ(ours.verdict, "");
  EXPECT_GT(ours.gflops, 0.0);
  EXPECT_GT(ours.pct_of_peak, 0.0);
  EXPECT_NEAR(ours.executed_pct_of_peak, ours.pct_of_peak, 1e-6 * ours.pct_of_peak);
  EXPECT_EQ(theirs.impl, "loopbrick:n k16 p q1 @ c16");
  EXPECT_EQ(theirs.count, 3);
  EXPECT_LE(theirs.speedup_lo, theirs.speedup);
  EXPECT_GE(theirs.speedup_hi, theirs.speedup);
  EXPECT_NE(theirs.verdict, "");
  EXPECT_DOUBLE_EQ(mean_speedup(report.rows, theirs.impl), theirs.speedup);

  const auto stored = test_.store().trial(theirs.trial);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->confirmed.n, 3);
  EXPECT_EQ(stored->samples.size(), 3U);
  const Table ratios =
      test_.store().query("SELECT count(*) FROM comparison WHERE trial = ? AND other = ?",
                          {std::to_string(ours.trial), std::to_string(theirs.trial)});
  EXPECT_EQ(ratios.rows[0][0], "1");
}

TEST_F(TuneTest, CompareWithoutATunedScheduleTakesTheModelsChoice) {
  const TuneRequest tuning = request({layer("b", "mb2ic16ih4oc16oh4kh1ph0")}, 6);
  const CompareReport report = compare(comparison(tuning, {}), test_.store(), {});
  ASSERT_EQ(report.rows.size(), 1U);
  EXPECT_EQ(report.rows[0].outcome, "ok") << report.rows[0].reason;
  EXPECT_NE(report.rows[0].implementation, "");
  EXPECT_EQ(report.rows[0].impl, "model");
  EXPECT_TRUE(report.rows[0].is_ours);
}

WisdomRecord wisdom(const Conditions& conditions, const std::string& schedule) {
  return {.machine = "another machine",
          .build = "another build gen0",
          .conditions = to_string(conditions),
          .problem = "conv fwd f32 mb2ic16ih4oc16oh4kh1",
          .schedule = schedule,
          .seconds = 1e-6};
}

TEST_F(TuneTest, ImportedSchedulesAreMeasuredFirst) {
  const TuneRequest tuning = request({layer("b", "mb2ic16ih4oc16oh4kh1ph0")}, 3);
  const std::string choice = "p n k16 q1 @ c16";
  test_.store().add_wisdom({wisdom(conditions(), "n k16 !"), wisdom(conditions(), choice)});
  const TuneReport report = tune(tuning, test_.store(), {});
  EXPECT_EQ(report.layers[0].trials, 3);
  EXPECT_EQ(report.layers[0].failures, 0);
  const Table first = test_.store().query("SELECT choice, confirmed_n FROM trial WHERE id = 1");
  EXPECT_EQ(first.rows[0][0], choice);
  EXPECT_NE(first.rows[0][1], "0") << "it is no finalist";
}

TEST_F(TuneTest, CompareTakesWhatWasImportedBeforeTheModelsChoice) {
  const TuneRequest tuning = request({layer("b", "mb2ic16ih4oc16oh4kh1ph0")}, 6);
  test_.store().add_wisdom({wisdom(conditions(), "p n k16 q1 @ c16")});
  const CompareReport report = compare(comparison(tuning, {}), test_.store(), {});
  ASSERT_EQ(report.rows.size(), 1U);
  EXPECT_EQ(report.rows[0].impl, "imported");
  EXPECT_EQ(report.rows[0].implementation, "p n k16 q1 @ c16");
}

TEST_F(TuneTest, CompareTakesTheFastestOfASearchWhereNothingIsConfirmed) {
  const TuneRequest tuning = request({layer("b", "mb2ic16ih4oc16oh4kh1ph0")}, 6);
  const TrialContext context{.problem = tuning.layers[0].problem,
                             .conditions = tuning.conditions,
                             .station = tuning.station};
  const auto searched = [&](const std::string& choice, double seconds) {
    Attempt attempt;
    attempt.samples = {{.seconds = seconds}};
    test_.store().add_trial(trial_record(context, {kOurs, choice}, attempt, false));
  };
  searched("n k16 p q2 @ c16", 2e-6);
  searched("n k16 p q1 @ c16", 1e-6);
  searched("n k16 p q1 @ c16 of an older grammar", 3e-6);
  const CompareReport report = compare(comparison(tuning, {}), test_.store(), {});
  ASSERT_EQ(report.rows.size(), 1U);
  EXPECT_EQ(report.rows[0].impl, "tuned");
  EXPECT_EQ(report.rows[0].implementation, "n k16 p q1 @ c16");
}

TEST_F(TuneTest, AStopWithinALayerOfACompareStoresNothingOfIt) {
  const TuneRequest tuning = request({layer("b", "mb2ic16ih4oc16oh4kh1ph0")}, 6);
  std::atomic<bool> stop = false;
  const CompareReport report = compare(
      comparison(tuning, {}), test_.store(), [&stop](const std::string&, int, int) { stop = true; },
      &stop);
  EXPECT_TRUE(report.interrupted);
  EXPECT_TRUE(report.rows.empty());
  EXPECT_EQ(test_.store().query("SELECT count(*) FROM trial").rows[0][0], "0");
}

TEST_F(TuneTest, AnArmThatCannotRunHasARowWithItsReason) {
  const TuneRequest tuning = request({layer("b", "mb2ic16ih4oc16oh4kh1ph0")}, 6);
  const CompareReport report =
      compare(comparison(tuning, {{"loopbrick", "n p q4 @ c16"}}), test_.store(), {});
  ASSERT_EQ(report.rows.size(), 2U);
  EXPECT_EQ(report.rows[1].outcome, "not_applicable");
  EXPECT_NE(report.rows[1].reason, "");
  EXPECT_EQ(report.rows[1].verdict, "");
  EXPECT_GT(report.rows[1].trial, 0);
  EXPECT_DOUBLE_EQ(mean_speedup(report.rows, report.rows[1].impl), 0.0);
}

TEST(MeanSpeedup, WeighsLayersByTheirCount) {
  CompareRow once;
  once.impl = "x";
  once.speedup = 4.0;
  once.verdict = "FASTER";
  CompareRow three = once;
  three.speedup = 1.0;
  three.count = 3;
  EXPECT_NEAR(mean_speedup({once, three}, "x"), 1.4142135, 1e-6);
  EXPECT_DOUBLE_EQ(mean_speedup({once, three}, "y"), 0.0);
}

}  // namespace
}  // namespace loopbrick
