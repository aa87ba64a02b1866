#include "tuner/regression.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "kernels/text.h"
#include "tuner/record.h"
#include "tuner/test_store.h"

namespace loopbrick {
namespace {

constexpr const char* kProblem = "conv fwd f32 mb2ic16ih4oc16oh4kh1ph0";
constexpr const char* kOne = "N k16 p q4 @ c16 * c";
constexpr const char* kTwo = "N k16 p q2 @ c16 * c";
constexpr const char* kStale = "of an older grammar";

/// Two stores, and a machine that runs each schedule at the speed it is told.
class Regression : public testing::Test {
 protected:
  Regression() {
    request_.today.layers = {{.label = "a", .problem = parse_problem(kProblem), .count = 1}};
    request_.today.conditions = {.threads = 1};
    request_.today.station = today_.station();
    request_.today.rounds.rounds = 9;
    request_.bar = 0.97;
  }

  TrialRecord trial(const Station& station, const std::string& schedule, double seconds,
                    double peak) const {
    const TrialContext context{.problem = parse_problem(kProblem),
                               .conditions = request_.today.conditions,
                               .station = station};
    TrialRecord record = trial_record(context, {kOurs, schedule}, {}, true);
    record.confirmed = {.n = 9,
                        .median = seconds,
                        .lo = 0.99 * seconds,
                        .hi = 1.01 * seconds,
                        .min = seconds,
                        .processes = 3};
    record.peak_flops = peak;
    return record;
  }
  void store(const std::string& schedule, double seconds, double peak = 4e11) {
    stored_.store().add_trial(trial(stored_.station(), schedule, seconds, peak));
  }
  void tune(const std::string& schedule, double seconds) {
    today_.store().add_trial(trial(today_.station(), schedule, seconds, 4e11));
  }

  /// What `seconds_` says of the schedules that are asked for, in the order of the calls.
  CompareReport measure(const CompareRequest& request) {
    asked_.push_back(request);
    CompareReport report;
    std::vector<std::string> schedules{request.schedule};
    for (const Arm& arm : request.arms) schedules.push_back(arm.choice);
    for (const std::string& schedule : schedules) {
      CompareRow row{.layer = "a", .problem = kProblem, .implementation = schedule};
      row.outcome = outcome_;
      if (outcome_ == "ok") {
        row.trial = today_.store().add_trial(
            trial(today_.station(), schedule, seconds_.at(asked_.size() - 1), peak_));
      }
      report.rows.push_back(row);
    }
    return report;
  }
  RegressionRow row() {
    const auto report = regressions(
        request_, stored_.store(), today_.store(),
        [this](const CompareRequest& request) { return measure(request); }, {}, nullptr);
    return report.rows.at(0);
  }

  TestStore stored_, today_;
  RegressionRequest request_;
  std::vector<double> seconds_{1.0};
  double peak_ = 4e11;
  std::string outcome_ = "ok";
  std::vector<CompareRequest> asked_;
};

using Finding = RegressionRow::Finding;

TEST_F(Regression, AsFastAsStoredIsFine) {
  store(kOne, 1.0);
  const RegressionRow found = row();
  EXPECT_EQ(found.finding, Finding::fine) << found.reason;
  EXPECT_DOUBLE_EQ(found.ratio, 1.0);
  EXPECT_DOUBLE_EQ(found.lo, 0.99 / 1.01);
  EXPECT_DOUBLE_EQ(found.hi, 1.01 / 0.99);
  EXPECT_FALSE(found.is_again);
  EXPECT_EQ(asked_.size(), 1U);
}

TEST_F(Regression, ASuspectIsMeasuredAgainLongerAndJudgedByThat) {
  store(kOne, 1.0);
  seconds_ = {1.5, 1.02};
  const RegressionRow found = row();
  EXPECT_EQ(found.finding, Finding::fine);
  EXPECT_TRUE(found.is_again);
  EXPECT_DOUBLE_EQ(found.seconds, 1.02);
  ASSERT_EQ(asked_.size(), 2U);
  EXPECT_EQ(asked_[1].rounds.rounds, 18);
  EXPECT_NE(asked_[1].rounds.seed, asked_[0].rounds.seed);
}

TEST_F(Regression, WhatStaysBelowTheBarIsSlower) {
  store(kOne, 1.0);
  seconds_ = {1.04, 1.05};
  const RegressionRow found = row();
  EXPECT_EQ(found.finding, Finding::slower);
  EXPECT_NE(found.reason.find("0.952 (0.934 to 0.972) of the stored speed is below 0.970"),
            std::string::npos)
      << found.reason;
  EXPECT_NE(found.reason.find("same schedule"), std::string::npos) << found.reason;
}

TEST_F(Regression, ASlowerHourIsTakenOut) {
  store(kOne, 1.0);
  seconds_ = {1.25};
  peak_ = 3.2e11;
  EXPECT_DOUBLE_EQ(row().ratio, 1.0);
}

TEST_F(Regression, TodaysScheduleAndTheStoredOneRunInTheSameRounds) {
  store(kOne, 1.0);
  tune(kTwo, 1.2);
  seconds_ = {1.2, 1.2};
  const RegressionRow found = row();
  EXPECT_EQ(asked_.at(0).schedule, kTwo);
  EXPECT_EQ(asked_.at(0).arms, (std::vector<Arm>{{kOurs, kOne}}));
  EXPECT_EQ(found.schedule, kTwo);
  EXPECT_EQ(found.stored_schedule, kOne);
  EXPECT_NEAR(found.of_stored_schedule, 1.0 / 1.2, 1e-9);
  EXPECT_NE(found.reason.find("the stored schedule has 0.833: the code"), std::string::npos);
}

TEST_F(Regression, AnUntunedProblemRunsTheStoredSchedule) {
  store(kTwo, 1.0);
  row();
  EXPECT_EQ(asked_.at(0).schedule, kTwo);
  EXPECT_TRUE(asked_.at(0).arms.empty());
}

TEST_F(Regression, AScheduleThatNoLongerRunsLeavesTheTimeToBeat) {
  store(kStale, 1.0);
  tune(kOne, 2.0);
  seconds_ = {2.0, 2.0};
  const RegressionRow found = row();
  EXPECT_TRUE(asked_.at(0).arms.empty());
  EXPECT_NE(found.reason.find("no longer runs"), std::string::npos) << found.reason;
}

TEST_F(Regression, TheNewestBuildOrTheNamedCommitIsTheYardstick) {
  store(kOne, 1.0);
  stored_.store().add_build({.id = "newer", .commit = "abc1234"});
  TrialRecord newer = trial(stored_.station(), kOne, 2.0, 4e11);
  newer.build = "newer";
  const auto campaign = stored_.store().add_campaign(
      {.command = "test", .machine = test_machine().id, .build = "newer"});
  newer.campaign = campaign;
  std::this_thread::sleep_for(std::chrono::milliseconds(2));  // what the clock of the rows shows
  stored_.store().add_trial(newer);
  seconds_.assign(3, 1.0);
  EXPECT_DOUBLE_EQ(row().stored_seconds, 2.0);
  request_.revision = "0";
  EXPECT_DOUBLE_EQ(row().stored_seconds, 1.0);
  request_.revision = "abc";
  EXPECT_DOUBLE_EQ(row().stored_seconds, 2.0);
  request_.revision = "fff";
  EXPECT_THROW(row(), ParseError);
}

TEST_F(Regression, AProblemThatIsNotStoredIsNoFailure) {
  const RegressionRow found = row();
  EXPECT_EQ(found.finding, Finding::not_stored);
  EXPECT_TRUE(asked_.empty());
}

TEST_F(Regression, AWrongResultIsAFailureAndNotMeasuredAgain) {
  store(kOne, 1.0);
  outcome_ = "wrong_result";
  EXPECT_EQ(row().finding, Finding::failed);
  EXPECT_EQ(asked_.size(), 1U);
}

TEST_F(Regression, AnotherMachineIsRefusedInOneLine) {
  store(kOne, 1.0);
  request_.today.station.machine.id = "another";
  try {
    row();
    FAIL() << "not refused";
  } catch (const ParseError& error) {
    EXPECT_NE(std::string(error.what()).find("no times of this machine 'another'"),
              std::string::npos);
    EXPECT_NE(std::string(error.what()).find(test_machine().id), std::string::npos);
  }
}

}  // namespace
}  // namespace loopbrick
