#include "tuner/steps.h"

#include <gtest/gtest.h>

namespace loopbrick {
namespace {

using Steps = std::vector<int>;

TEST(EvenSteps, CutIntoNearlyEqualParts) {
  EXPECT_EQ(even_steps(14, 4, 100), (Steps{14, 7, 5, 4}));
  EXPECT_EQ(even_steps(56, 8, 56), (Steps{56, 28, 19, 14, 12, 10, 8}));
  EXPECT_EQ(even_steps(1, 6, 100), (Steps{1}));
  EXPECT_EQ(even_steps(5, 6, 100), (Steps{5}));
}

TEST(EvenSteps, StayBelowTheMost) {
  EXPECT_EQ(even_steps(1000, 200, 256), (Steps{250, 200}));
  EXPECT_EQ(even_steps(1'000'000'007, 255, 256), (Steps{256, 255}));
}

TEST(HalvedSteps, CutIntoPowersOfTwo) {
  EXPECT_EQ(halved_steps(56, 7, 56), (Steps{56, 28, 14, 7}));
  EXPECT_EQ(halved_steps(7, 2, 100), (Steps{7, 4, 2}));
}

TEST(Divisors, LargestFirst) {
  EXPECT_EQ(divisors(12, 2, 6), (Steps{6, 4, 3, 2}));
  EXPECT_EQ(divisors(13, 2, 12), Steps{});
}

}  // namespace
}  // namespace loopbrick
