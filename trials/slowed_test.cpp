#include "trials/slowed.h"

#include <gtest/gtest.h>

#include <memory>

#include "kernels/text.h"

namespace loopbrick {
namespace {

using std::chrono::nanoseconds;

TEST(Slowed, ChoiceNamesTheSlowDownAndTheArm) {
  const SlowedChoice slowed = parse_slowed_choice("3% loopbrick N k64 @ c64");
  EXPECT_DOUBLE_EQ(slowed.fraction, 0.03);
  EXPECT_EQ(slowed.implementation, "loopbrick");
  EXPECT_EQ(slowed.choice, "N k64 @ c64");
  EXPECT_EQ(parse_slowed_choice("2.5% eigen").choice, "");
}

TEST(Slowed, OtherChoicesAreRefused) {
  for (const char* text : {"", "3", "3%", "x% eigen", "-1% eigen", "nan% eigen", "3%% eigen"}) {
    EXPECT_THROW(parse_slowed_choice(text), ParseError) << text;
  }
}

TEST(Slowed, ARunTakesLongerByTheFraction) {
  const auto time = std::make_shared<nanoseconds>(0);
  Runnable runnable;
  runnable.run = [time] { *time += nanoseconds(1'000'000); };
  const Clock clock = [time] { return *time += nanoseconds(100); };
  const Runnable slowed = slow_down(runnable, 0.5, clock);
  slowed.run();
  EXPECT_GE(time->count(), 1'500'000);
  EXPECT_LE(time->count(), 1'501'000);
}

}  // namespace
}  // namespace loopbrick
