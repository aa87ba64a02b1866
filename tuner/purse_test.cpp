#include "tuner/purse.h"

#include <gtest/gtest.h>

namespace loopbrick {
namespace {

/// Eight layers alike, of which the first is there seven times.
TuneRequest request(const Budget& budget) {
  TuneRequest request;
  for (int i = 0; i < 8; ++i)
    request.layers.push_back({.label = std::to_string(i),
                              .problem = parse_problem("mb1ic16ih4oc16oh4kh1ph0"),
                              .count = i == 0 ? 7 : 1});
  request.budget = budget;
  return request;
}

TunedLayer tuned(double seconds, double late_gain) {
  TunedLayer layer;
  layer.trial = 1;
  layer.seconds = seconds;
  layer.late_gain = late_gain;
  layer.flops = 1.0;
  layer.peak_flops = 1.0;
  return layer;
}

TEST(Purse, ALayerThatIsThereOftenGetsMoreAndTheRestIsHeldBack) {
  const Purse purse(request({.seconds = 100.0}), 5.0);
  // 7 of 14 parts of a half by work, 1 of 8 of the half that is dealt alike.
  EXPECT_NEAR(purse.first_share(0, 5.0, 0).seconds, 70.0 * (0.25 + 0.0625), 1e-9);
  EXPECT_NEAR(purse.first_share(7, 5.0, 0).seconds, 70.0, 1e-9);
  EXPECT_NEAR(purse.first_share(7, 70.0, 0).seconds, 5.0, 1e-9);
  EXPECT_NEAR(purse.first_share(7, 90.0, 0).seconds, 1e-3, 1e-9);
}

TEST(Purse, TrialsOfBothTurnsAreTheBudget) {
  const Purse purse(request({.trials = 100}), 0.0);
  std::int64_t made = 0;
  for (std::size_t i = 0; i < 8; ++i) made += purse.first_share(i, 0.0, made).trials;
  EXPECT_EQ(made, 70);
  std::vector<TunedLayer> layers(8, tuned(2.0, 0.0));
  for (const Purse::Second& second : purse.second_turn(layers))
    made += purse.second_share(second, 0.0, made).trials;
  EXPECT_EQ(made, 100);
}

TEST(Purse, TheSecondTurnIsForThoseThatMostIsExpectedOf) {
  const Purse purse(request({.seconds = 100.0, .stale = 9}), 0.0);
  std::vector<TunedLayer> layers(8, tuned(1.0, 0.0));
  layers[0] = tuned(2.0, 0.02);  // seven of them
  layers[3] = tuned(2.0, 0.3);
  layers[5] = tuned(3.0, 0.0);  // no late gain, but far from the peak
  layers[6] = tuned(9.0, 9.0);
  layers[6].trial = 0;  // nothing runs
  const auto seconds = purse.second_turn(layers);
  ASSERT_EQ(seconds.size(), 2U);
  EXPECT_EQ(seconds[0].layer, 0U);  // 7 * 0.05 of the way to the peak
  EXPECT_EQ(seconds[1].layer, 3U);
  EXPECT_DOUBLE_EQ(seconds[1].part, 1.0);
  EXPECT_NEAR(seconds[0].part, 0.35 / 0.65, 1e-9);
  EXPECT_NEAR(purse.second_share(seconds[0], 60.0, 0).seconds, 40.0 * 0.35 / 0.65, 1e-9);
  EXPECT_EQ(purse.second_share(seconds[0], 60.0, 0).stale, 9);
}

TEST(Purse, FewLayersNoLimitOrAFreshStartHaveOneTurn) {
  const std::vector<TunedLayer> layers(8, tuned(2.0, 1.0));
  TuneRequest few = request({.seconds = 100.0});
  few.layers.resize(2);
  EXPECT_NEAR(Purse(few, 0.0).first_share(1, 0.0, 0).seconds, 100.0, 1e-9);
  EXPECT_TRUE(Purse(few, 0.0).second_turn({layers[0], layers[1]}).empty());
  EXPECT_TRUE(Purse(request({}), 0.0).second_turn(layers).empty());
  TuneRequest fresh = request({.seconds = 100.0});
  fresh.resume = false;
  EXPECT_TRUE(Purse(fresh, 0.0).second_turn(layers).empty());
}

TEST(Purse, AStoppedFirstTurnHasNoSecond) {
  const Purse purse(request({.seconds = 100.0}), 0.0);
  EXPECT_TRUE(purse.second_turn(std::vector<TunedLayer>(5, tuned(2.0, 1.0))).empty());
}

}  // namespace
}  // namespace loopbrick
