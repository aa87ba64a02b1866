#include "measure/sampler.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "measure/statistics.h"

namespace loopbrick {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// A machine whose time passes only inside `run`: `costs` are used in turn.
struct FakeMachine {
  std::vector<nanoseconds> costs;
  nanoseconds time{0};
  std::size_t calls = 0;

  std::function<void()> run() {
    return [this] { time += costs[calls++ % costs.size()]; };
  }
  Clock clock() {
    return [this] { return time; };
  }
};

TEST(TimeCalls, GivesStartAndSecondsPerCall) {
  FakeMachine machine{.costs = {milliseconds(6), milliseconds(2)}};
  machine.time = milliseconds(500);
  const Stretch stretch = time_calls(machine.run(), 4, machine.clock());
  EXPECT_DOUBLE_EQ(stretch.start, 0.5);
  EXPECT_DOUBLE_EQ(stretch.seconds_per_call, 4e-3);
  EXPECT_EQ(stretch.calls, 4);
}

TEST(CallsFor, FillsTheSample) {
  EXPECT_EQ(calls_for(1e-3, 10e-3), 10);
  EXPECT_EQ(calls_for(0.9e-3, 10e-3), 12);  // at least as long
  EXPECT_EQ(calls_for(1.0, 10e-3), 1);
  EXPECT_EQ(calls_for(0.0, 10e-3), 1'000'000);
}

TEST(Measure, SurvivorIsMeasuredInSamplesOfItsFastestCall) {
  FakeMachine machine{.costs = {milliseconds(2), milliseconds(1), milliseconds(1)}};
  const SamplerOptions options{.least_calls = 3, .samples = 5, .sample_seconds = 10e-3};
  const std::vector<Stretch> got = measure(machine.run(), options, machine.clock());
  ASSERT_EQ(got.size(), 5U);
  for (const Stretch& stretch : got) EXPECT_EQ(stretch.calls, 10);
  EXPECT_EQ(machine.calls, 3U + 50U);
}

TEST(Measure, GivesUpWhenTheFastestOfTheFirstIsTooSlow) {
  FakeMachine machine{.costs = {milliseconds(9), milliseconds(5), milliseconds(7)}};
  SamplerOptions options{.least_calls = 3, .give_up_above = 4.9e-3};
  const std::vector<Stretch> got = measure(machine.run(), options, machine.clock());
  ASSERT_EQ(got.size(), 3U);
  EXPECT_DOUBLE_EQ(got[1].seconds_per_call, 5e-3);
  EXPECT_EQ(machine.calls, 3U);
  options.give_up_above = 5e-3;
  EXPECT_EQ(measure(machine.run(), options, machine.clock()).size(), 9U);
}

TEST(Measure, ScreensOnlyWhenNoSamplesAreWanted) {
  FakeMachine machine{.costs = {milliseconds(1)}};
  EXPECT_EQ(measure(machine.run(), {.least_calls = 4, .samples = 0}, machine.clock()).size(), 4U);
}

TEST(TimeCalls, AClockThatWentBackIsReadAgain) {
  FakeMachine machine{.costs = {milliseconds(-3600'000), milliseconds(2)}};
  const Stretch stretch = time_calls(machine.run(), 1, machine.clock());
  EXPECT_DOUBLE_EQ(stretch.seconds_per_call, 2e-3);
  EXPECT_EQ(machine.calls, 2U);
}

TEST(TimeCalls, AClockThatAlwaysGoesBackIsNamed) {
  FakeMachine machine{.costs = {milliseconds(-1)}};
  EXPECT_THROW(time_calls(machine.run(), 1, machine.clock()), std::runtime_error);
}

TEST(Measure, AJumpOfTheClockMovesNoMedian) {
  std::vector<nanoseconds> costs(48, milliseconds(1));
  costs[1] = std::chrono::hours(1);   // among the single calls
  costs[20] = std::chrono::hours(1);  // in one of five samples of nine
  FakeMachine machine{.costs = costs};
  const SamplerOptions options{.least_calls = 3, .samples = 5, .sample_seconds = 9e-3};
  std::vector<double> seconds;
  for (const Stretch& stretch : measure(machine.run(), options, machine.clock())) {
    seconds.push_back(stretch.seconds_per_call);
  }
  EXPECT_EQ(seconds.size(), 5U);
  EXPECT_DOUBLE_EQ(median(seconds), 1e-3);
}

TEST(Measure, PassesOnWhatRunThrows) {
  const auto run = [] { throw std::runtime_error("broken"); };
  EXPECT_THROW(measure(run, {}), std::runtime_error);
}

}  // namespace
}  // namespace loopbrick
