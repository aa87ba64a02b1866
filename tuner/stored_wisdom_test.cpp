#include "tuner/stored_wisdom.h"

#include <gtest/gtest.h>

#include "loops/plan.h"
#include "tuner/test_store.h"

namespace loopbrick {
namespace {

constexpr const char* kProblem = "conv fwd f32 mb2ic64ih56oc64oh56kh3ph1";

class StoredWisdom : public testing::Test {
 protected:
  TrialContext context(const std::string& conditions = "t2 avx2 warm") const {
    return {.problem = parse_problem(kProblem),
            .conditions = parse_conditions(conditions),
            .station = test_.station()};
  }

  /// A trial of ours that took `seconds`.
  void add(const std::string& schedule, double seconds, bool confirmed) {
    const Attempt attempt{.samples = {{.seconds = seconds}}};
    test_.store().add_trial(trial_record(context(), {kOurs, schedule}, attempt, confirmed));
  }

  WisdomEntry entry() const {
    return {.machine = test_machine().id,
            .build = "0.1.0 abc1234 g++-12.2.0 release gen" + std::to_string(kGeneratorVersion),
            .conditions = "t2 avx2 warm",
            .problem = kProblem,
            .schedule = "N k64 p q14 @ c64 * c r s",
            .seconds = 0.0005};
  }

  TestStore test_;
};

TEST_F(StoredWisdom, ConfirmedWisdomIsTheBestConfirmedTrial) {
  add("N k64 p q28 @ c64 * c r s", 0.001, true);
  add("N k64 p q14 @ c64 * c r s", 0.002, true);
  add("N k64 p q56 @ c64 * c r s", 0.0001, false);
  const Wisdom found = confirmed_wisdom(test_.store(), test_machine().id);
  ASSERT_EQ(found.entries.size(), 1U);
  const WisdomEntry& best = found.entries[0];
  EXPECT_EQ(best.schedule, "N k64 p q28 @ c64 * c r s");
  EXPECT_EQ(best.seconds, 0.001);
  EXPECT_EQ(best.problem, kProblem);
  EXPECT_EQ(best.conditions, "t2 avx2 warm");
  EXPECT_EQ(best.machine, test_machine().id);
  EXPECT_EQ(best.build, test_.station().build);
  EXPECT_TRUE(confirmed_wisdom(test_.store(), "another machine").entries.empty());
}

TEST_F(StoredWisdom, StaleEntriesAreNotKept) {
  WisdomEntry near = entry();
  near.machine = "another";
  WisdomEntry stale = entry();
  stale.schedule = "N k64 p @ c64 * c r s";
  const auto judgements =
      keep_wisdom({.entries = {entry(), near, stale}}, test_machine().id, test_.store());
  ASSERT_EQ(judgements.size(), 3U);
  EXPECT_EQ(judgements[0].fit, Fit::exact);
  EXPECT_EQ(judgements[1].fit, Fit::near);
  EXPECT_EQ(judgements[2].fit, Fit::stale);
  EXPECT_EQ(test_.store().wisdom(kProblem).size(), 2U);
}

TEST_F(StoredWisdom, TextsAreKeptAsThisBuildWritesThem) {
  WisdomEntry loose = entry();
  loose.problem = "mb2ic64ih56oc64oh56kh3ph1";
  keep_wisdom({.entries = {loose}}, test_machine().id, test_.store());
  EXPECT_EQ(test_.store().wisdom(kProblem).size(), 1U);
}

TEST_F(StoredWisdom, ImportedSchedulesRunHereAndTheChoiceIsForAsManyThreads) {
  keep_wisdom({.entries = {entry()}}, test_machine().id, test_.store());
  const std::vector<std::string> schedule{entry().schedule};
  EXPECT_EQ(imported_schedules(context(), test_.store()), schedule);
  EXPECT_EQ(imported_schedules(context("t1 avx2 warm"), test_.store()), schedule);
  EXPECT_EQ(imported_choice(context(), test_.store()), entry());
  EXPECT_EQ(imported_choice(context("t1 avx2 warm"), test_.store()), std::nullopt);
}

}  // namespace
}  // namespace loopbrick
