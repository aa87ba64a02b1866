#include "tuner/budget.h"

#include <gtest/gtest.h>

#include "kernels/text.h"

namespace loopbrick {
namespace {

TEST(Budget, TextsMeanTimeOrTrials) {
  EXPECT_EQ(parse_budget("60s"), (Budget{.seconds = 60.0, .trials = 0}));
  EXPECT_EQ(parse_budget("1.5m"), (Budget{.seconds = 90.0, .trials = 0}));
  EXPECT_EQ(parse_budget("2h"), (Budget{.seconds = 7200.0, .trials = 0}));
  EXPECT_EQ(parse_budget("200trials"), (Budget{.seconds = 0.0, .trials = 200}));
  EXPECT_EQ(parse_budget("200trials,30s"), (Budget{.seconds = 30.0, .trials = 200}));
}

TEST(Budget, ALayerMayEndWithoutGain) {
  EXPECT_EQ(parse_budget("40stale"), (Budget{.stale = 40}));
  EXPECT_EQ(parse_budget("40stale,1m,9trials"), (Budget{.seconds = 60, .trials = 9, .stale = 40}));
}

TEST(Budget, TextRoundTrips) {
  for (const char* text :
       {"60s", "0.5s", "200trials", "60s,200trials", "40stale", "60s,200trials,40stale"}) {
    EXPECT_EQ(to_string(parse_budget(text)), text);
  }
}

TEST(Budget, NonsenseIsRefused) {
  for (const char* text : {"",
                           "0s",
                           "0trials",
                           "-1s",
                           "s",
                           "60x",
                           "1.5trials",
                           "60s,",
                           "60s,70s",
                           "5trials,6trials",
                           "nan",
                           "inf",
                           "0stale",
                           "1.5stale",
                           "3stale,4stale",
                           "stale",
                           "1e3s",
                           "99999999999s",
                           "99999999999trials",
                           "60 s"}) {
    EXPECT_THROW(parse_budget(text), ParseError) << text;
  }
}

}  // namespace
}  // namespace loopbrick
