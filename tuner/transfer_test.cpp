#include "tuner/transfer.h"

#include <gtest/gtest.h>

#include "tuner/problem_space.h"
#include "tuner/test_store.h"
#include "tuner/toy_space.h"

namespace loopbrick {
namespace {

TEST(Transfer, AlikeProblemsDifferInSizesOnly) {
  const auto between = [](const std::string& left, const std::string& right) {
    return unlikeness(parse_problem(left), parse_problem(right));
  };
  const std::string layer = "mb2ic64ih56oc64oh56kh3ph1";
  EXPECT_DOUBLE_EQ(*between(layer, layer), 0.0);
  EXPECT_DOUBLE_EQ(*between(layer, "mb2ic128ih28oc128oh28kh3ph1"), 4.0);
  EXPECT_DOUBLE_EQ(*between("mb2ic128ih28oc128oh28kh3ph1", layer), 4.0);
  EXPECT_FALSE(between(layer, "mb2ic64ih56oc64oh56kh1ph0"));
  EXPECT_FALSE(between(layer, "mb2ic64ih56oc64oh28kh3ph1sh2"));
  EXPECT_FALSE(between(layer, "conv bwd_w f32 " + layer));
  EXPECT_FALSE(between("fc fwd f32 mb2ic64oc64", layer));
  EXPECT_DOUBLE_EQ(*between("gemm f32 8x8:8x8bs0", "gemm f32 8x8:8x8bs1"), 0.0);
}

TEST(Transfer, ACounterpartKeepsTextsThenPlacesThenIsValid) {
  const Space from = toy_space();
  Space to = toy_space();
  EXPECT_EQ(counterpart(to, from, {3, 4, 7, 2}), (Point{3, 4, 7, 2}));
  to.choices[0].values = {"9", "3"};            // the same text elsewhere
  to.choices[1].values = {"x", "y", "z", "w"};  // other texts: 4 of 0..9 is at 1 of 0..3
  EXPECT_EQ(counterpart(to, from, {3, 4, 7, 2}), (Point{1, 1, 7, 2}));
  EXPECT_EQ(counterpart(toy_space(), from, {9, 9, 1, 0}), (Point{9, 3, 1, 1}));
  to.choices[2].values.clear();
  EXPECT_EQ(counterpart(to, from, {3, 4, 7, 2}), std::nullopt);
}

class TransferTest : public testing::Test {
 protected:
  TrialContext context(const std::string& problem) const {
    return {.problem = parse_problem(problem),
            .conditions = {.threads = 2, .isa = Isa::avx512},
            .station = test_.station()};
  }

  Space space_of(const TrialContext& context) const {
    return problem_space(context.problem, context.conditions, context.station.machine,
                         context.station.limits);
  }

  void confirm(const TrialContext& context, const std::string& choice) {
    Attempt attempt;
    attempt.samples = {{.seconds = 1e-3}};
    const TrialRecord record = trial_record(context, {kOurs, choice}, attempt, false);
    test_.store().confirm(test_.store().add_trial(record), record.search, 1e11, {});
  }

  TestStore test_;
};

TEST_F(TransferTest, TheMostAlikeProblemComesFirst) {
  const TrialContext near = context("mb2ic128ih28oc128oh28kh3ph1");
  const TrialContext far = context("mb2ic256ih14oc256oh14kh3ph1");
  const TrialContext other = context("mb2ic64ih28oc64oh28kh1ph0");
  confirm(near, "N k64 p q28 @ c64 * c r s");
  confirm(far, "N k64 p q7 @ c64 * c r s");
  confirm(other, "N k64 p2 q28 @ c64 * c");
  const TrialContext mine = context("mb2ic128ih56oc128oh56kh3ph1");
  const Space space = space_of(mine);
  const auto schedules = transferred_schedules(space, mine, test_.store());
  ASSERT_EQ(schedules.size(), 2U);
  for (const std::string& schedule : schedules) EXPECT_TRUE(space.point(schedule)) << schedule;
  EXPECT_EQ(schedules[0], "N k64 p q28 @ c64 * c r s");
}

TEST_F(TransferTest, OtherConditionsAndForeignTextsGiveNothing) {
  TrialContext elsewhere = context("mb2ic64ih28oc64oh28kh3ph1");
  elsewhere.conditions.threads = 1;
  confirm(elsewhere, "N p k64 q14 @ c64 * c r s");
  confirm(context("mb2ic64ih28oc64oh28kh3ph1"), "a text of an older language");
  const TrialContext mine = context("mb2ic64ih56oc64oh56kh3ph1");
  EXPECT_TRUE(transferred_schedules(space_of(mine), mine, test_.store()).empty());
}

}  // namespace
}  // namespace loopbrick
