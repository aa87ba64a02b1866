#include "tuner/rehearsal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tuner/toy_space.h"

namespace loopbrick {
namespace {

/// The toy space measured whole; the model takes the best d for 5.
TimingTable toy_table() {
  const Space space = toy_space(5);
  TimingTable table{.name = "toy", .facts = {}, .choices = space.choices, .rows = {}};
  walk(space, [&](const Point& point) {
    table.rows.push_back({.point = point,
                          .schedule = space.text(point),
                          .predicted = space.predict(point),
                          .seconds = toy_seconds(point)});
    return true;
  });
  return table;
}

double after(const std::vector<double>& regrets, std::size_t trials) {
  return regrets.at(std::min(trials, regrets.size()) - 1);
}

TEST(Rehearsal, RegretFallsToNothingWhereEverythingIsTried) {
  const TimingTable table = toy_table();
  const auto regrets =
      rehearse(table, strategy_named("exhaustive"), {.trials = 100'000, .noise = 0.0});
  EXPECT_EQ(regrets.size(), table.rows.size());
  EXPECT_DOUBLE_EQ(regrets.front(), toy_seconds(table.rows[0].point) - 1.0);
  EXPECT_TRUE(std::is_sorted(regrets.rbegin(), regrets.rend()));
  EXPECT_DOUBLE_EQ(regrets.back(), 0.0);
}

TEST(Rehearsal, IsRepeatableBySeed) {
  const TimingTable table = toy_table();
  for (const StrategyRow& row : strategies()) {
    const RehearsalPlan plan{.seed = 3, .trials = 30};
    EXPECT_EQ(rehearse(table, row, plan), rehearse(table, row, plan)) << row.name;
  }
}

TEST(Rehearsal, TrialsAreDifferentSchedules) {
  const auto regrets = rehearse(toy_table(), strategy_named("halving"), {.trials = 50});
  EXPECT_EQ(regrets.size(), 50U);
  EXPECT_TRUE(std::isfinite(regrets.front()));
}

TEST(Rehearsal, TheModelsRankingBeginsWithItsFirstChoice) {
  const auto regrets = rehearse(toy_table(), strategy_named("ranked"), {.trials = 1});
  ASSERT_EQ(regrets.size(), 1U);
  EXPECT_GE(regrets[0], 0.15) << "d is 3 steps off";
}

TEST(Rehearsal, EveryStrategyThatLearnsBeatsRandomDrawing) {
  const TimingTable table = toy_table();
  const auto median_after = [&](std::string_view name, std::size_t trials) {
    std::vector<double> regrets;
    for (std::uint64_t seed = 1; seed <= 15; ++seed)
      regrets.push_back(
          after(rehearse(table, strategy_named(name), {.seed = seed, .trials = trials}), trials));
    std::sort(regrets.begin(), regrets.end());
    return regrets[regrets.size() / 2];
  };
  const double random = median_after("random", 120);
  for (const char* name : {"model", "halving", "local", "evolve"})
    EXPECT_LT(median_after(name, 120), random) << name;
}

TEST(Rehearsal, AFailedScheduleIsNoResult) {
  TimingTable table = toy_table();
  for (TimingRow& row : table.rows) {
    if (row.schedule != "9 3 0 1") row.seconds = 0.0;
  }
  const auto regrets =
      rehearse(table, strategy_named("exhaustive"), {.trials = 100'000, .noise = 0.0});
  EXPECT_TRUE(std::isinf(regrets.front()));
  EXPECT_DOUBLE_EQ(regrets.back(), 0.0);
}

}  // namespace
}  // namespace loopbrick
