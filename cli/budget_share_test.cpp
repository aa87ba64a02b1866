#include "cli/budget_share.h"

#include <gtest/gtest.h>

namespace loopbrick {
namespace {

using namespace std::chrono_literals;

TEST(BudgetShare, WhatIsLeftIsSharedEqually) {
  EXPECT_EQ(share_of({.seconds = 60, .trials = 200}, 20s, 4),
            (Budget{.seconds = 10, .trials = 50}));
  EXPECT_EQ(share_of({.seconds = 60}, 0s, 1), (Budget{.seconds = 60}));
}

TEST(BudgetShare, NoLimitStaysNone) { EXPECT_EQ(share_of({}, 5s, 3), Budget{}); }

TEST(BudgetShare, AUsedUpLimitStaysALimit) {
  EXPECT_EQ(share_of({.seconds = 1, .trials = 2}, 9s, 3), (Budget{.seconds = 1e-3, .trials = 1}));
}

}  // namespace
}  // namespace loopbrick
