#include "tuner/strategy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "kernels/text.h"
#include "tuner/ranking.h"
#include "tuner/toy_space.h"

namespace loopbrick {
namespace {

Seen answer(const Ask& ask) {
  return {
      .point = ask.point, .fidelity = ask.fidelity, .ok = true, .seconds = toy_seconds(ask.point)};
}

std::vector<Seen> run(const Space& space, const StrategyRow& row, std::uint64_t seed,
                      std::size_t asks) {
  std::vector<Seen> history;
  const Strategy strategy = row.begin(space, seed);
  while (history.size() < asks) {
    const auto ask = strategy(history);
    if (!ask) break;
    history.push_back(answer(*ask));
  }
  return history;
}

double best(const std::vector<Seen>& history) {
  double seconds = 1e300;
  for (const Seen& seen : history) seconds = std::min(seconds, seen.seconds);
  return seconds;
}

class EveryStrategy : public testing::TestWithParam<std::string> {};

TEST_P(EveryStrategy, AsksTheSameAgainForTheSameSeed) {
  const Space space = toy_space();
  const auto& row = strategy_named(GetParam());
  const auto once = run(space, row, 7, 60);
  const auto again = run(space, row, 7, 60);
  ASSERT_EQ(once.size(), again.size());
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_EQ(once[i].point, again[i].point) << i;
}

TEST_P(EveryStrategy, GoesOnWhereARecordedHistoryEnds) {
  const Space space = toy_space();
  const auto& row = strategy_named(GetParam());
  const auto whole = run(space, row, 7, 60);
  for (const std::size_t length : {1U, 9U, 40U}) {
    const Strategy fresh = row.begin(space, 7);
    const auto ask = fresh(std::span(whole).first(length));
    ASSERT_TRUE(ask);
    EXPECT_EQ(ask->point, whole[length].point) << length;
    EXPECT_EQ(ask->fidelity, whole[length].fidelity) << length;
  }
}

TEST_P(EveryStrategy, AsksOnlyAboutValidPointsAndNeverTheSameTwice) {
  const Space space = toy_space();
  std::set<std::string> asked;
  for (const Seen& seen : run(space, strategy_named(GetParam()), 3, 300)) {
    EXPECT_FALSE(first_refusal(space, seen.point));
    EXPECT_TRUE(
        asked.insert(space.text(seen.point) + (seen.fidelity == Fidelity::screen ? " s" : " m"))
            .second);
  }
}

TEST_P(EveryStrategy, EndsInASmallSpaceWithEveryPointAsked) {
  Space space = toy_space();
  space.choices = {space.choices[0], space.choices[1]};
  space.predict = [](const Point& point) { return 1.0 + point[0] + point[1]; };
  std::set<std::string> asked;
  const Strategy strategy = strategy_named(GetParam()).begin(space, 1);
  std::vector<Seen> history;
  while (const auto ask = strategy(history)) {
    asked.insert(space.text(ask->point));
    history.push_back({.point = ask->point, .fidelity = ask->fidelity, .ok = true, .seconds = 1.0});
    ASSERT_LT(history.size(), 1000U);
  }
  EXPECT_EQ(asked.size(), 79U);
}

TEST_P(EveryStrategy, SurvivesFailuresOnly) {
  const Space space = toy_space();
  const Strategy strategy = strategy_named(GetParam()).begin(space, 1);
  std::vector<Seen> history;
  for (int i = 0; i < 100; ++i) {
    const auto ask = strategy(history);
    ASSERT_TRUE(ask);
    EXPECT_FALSE(is_seen(history, ask->point));
    history.push_back(
        {.point = ask->point, .fidelity = ask->fidelity, .ok = false, .seconds = 0.0});
  }
}

INSTANTIATE_TEST_SUITE_P(Table, EveryStrategy,
                         testing::Values("model", "halving", "local", "evolve", "ranked", "random",
                                         "exhaustive"),
                         [](const auto& each) { return each.param; });

TEST(Strategies, ExhaustiveAsksAboutEveryPointInOrder) {
  const Space space = toy_space();
  const auto history = run(space, strategy_named("exhaustive"), 1, 100'000);
  std::size_t i = 0;
  walk(space, [&](const Point& point) {
    EXPECT_EQ(history[i].point, point);
    ++i;
    return true;
  });
  EXPECT_EQ(i, history.size());
}

/// Asks until the optimum of toy_space is found, or `most`.
std::size_t asks_to_optimum(const Space& space, const std::string& name, std::uint64_t seed,
                            std::size_t most) {
  const auto history = run(space, strategy_named(name), seed, most);
  std::size_t asks = 0;
  while (asks < history.size() && toy_seconds(history[asks].point) > 1.001) ++asks;
  return asks;
}

std::size_t median_to_optimum(const Space& space, const std::string& name) {
  std::vector<std::size_t> asks;
  for (std::uint64_t seed = 1; seed <= 9; ++seed)
    asks.push_back(asks_to_optimum(space, name, seed, 1500));
  std::sort(asks.begin(), asks.end());
  return asks[asks.size() / 2];
}

TEST(Strategies, EachThatLearnsFindsTheOptimumBeforeRandom) {
  const Space space = toy_space();
  const std::size_t by_chance = median_to_optimum(space, "random");
  for (const char* name : {"model", "halving", "local", "evolve"})
    EXPECT_LT(median_to_optimum(space, name), by_chance / 3) << name;
}

/// Without a model's help: evolution asks it nothing, so that a blind one changes nothing.
TEST(Strategies, EvolutionNeedsNoModel) {
  Space space = toy_space();
  const auto before = run(space, strategy_named("evolve"), 1, 100);
  space.predict = [](const Point&) { return 1.0; };
  const auto after = run(space, strategy_named("evolve"), 1, 100);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_EQ(before[i].point, after[i].point) << i;
}

TEST(Strategies, HalvingMeasuresTheFastestQuarterOfEachBracket) {
  const Space space = toy_space();
  const auto history = run(space, strategy_named("halving"), 1, 60);
  EXPECT_EQ(history[0].fidelity, Fidelity::measure);
  for (std::size_t i = 1; i <= 16; ++i) EXPECT_EQ(history[i].fidelity, Fidelity::screen) << i;
  std::vector<double> screened;
  for (std::size_t i = 1; i <= 16; ++i) screened.push_back(history[i].seconds);
  std::sort(screened.begin(), screened.end());
  std::size_t measures = 0;
  while (history[17 + measures].fidelity == Fidelity::measure) {
    EXPECT_DOUBLE_EQ(history[17 + measures].seconds, screened[measures]);
    EXPECT_LE(history[17 + measures].seconds,
              give_up_above(std::span(history).first(17 + measures)));
    ++measures;
  }
  EXPECT_GE(measures, 1U);
  EXPECT_LE(measures, 4U);
}

TEST(Strategies, LocalSearchStaysNearUntilNoNeighbourIsFaster) {
  const Space space = toy_space(5);
  const auto history = run(space, strategy_named("local"), 1, 40);
  double best = history[0].seconds;
  Point at = history[0].point;
  for (std::size_t i = 1; i < history.size() && best > 1.001; ++i) {
    EXPECT_LE(distance(space, at, history[i].point), 2) << i;  // one, and one that it forbids
    if (history[i].seconds < best) {
      best = history[i].seconds;
      at = history[i].point;
    }
  }
}

/// Two valleys: whoever starts in the model's has to start again to find the other one.
TEST(Strategies, LocalSearchStartsAgainWhereItIsStuck) {
  Space space = toy_space();
  space.why_not = [](const Point&) { return std::nullopt; };
  const auto seconds = [](const Point& point) {
    int from_low = 0;
    int from_high = 0;
    for (const auto value : point) {
      from_low += value;
      from_high += 9 - value;
    }
    return 1.0 + std::min(0.5 + from_low, 1.0 * from_high);
  };
  space.predict = [](const Point& point) { return 1.0 + point[0]; };
  const Strategy strategy = begin_local(space, 1);
  std::vector<Seen> history;
  double best = 1e300;
  while (history.size() < 2000 && best > 1.0) {
    const auto ask = strategy(history);
    ASSERT_TRUE(ask);
    history.push_back({.point = ask->point, .ok = true, .seconds = seconds(ask->point)});
    best = std::min(best, history.back().seconds);
  }
  EXPECT_DOUBLE_EQ(best, 1.0);
}

TEST(Strategies, ModelStartsWithItsFirstChoiceAndMeasuresIt) {
  const Space space = toy_space();
  const auto first = begin_model_led(space, 1)({});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->fidelity, Fidelity::measure);
  EXPECT_EQ(first->point[0], 3);
  EXPECT_EQ(first->point[1], 4);
  EXPECT_EQ(first->point[3], 2);
}

/// The model is blind for c and wrong about d: the search has to find both by itself.
TEST(Strategies, ModelFindsTheOptimumThatTheModelMisses) {
  const Space space = toy_space(5);
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    EXPECT_LT(best(run(space, strategy_named("model"), seed, 120)), 1.001) << seed;
    EXPECT_GT(best(run(space, strategy_named("random"), seed, 120)), 1.001) << seed;
  }
}

TEST(Strategies, ModelMeasuresWhatItScreenedBest) {
  const Space space = toy_space(5);
  const auto history = run(space, strategy_named("model"), 1, 120);
  double measured = 1e300;
  for (const Seen& seen : history) {
    if (seen.fidelity == Fidelity::measure) measured = std::min(measured, seen.seconds);
  }
  EXPECT_DOUBLE_EQ(measured, best(history));
}

TEST(Strategies, GiveUpALittleAboveTheBestMeasured) {
  std::vector<Seen> history{
      {.point = {1}, .fidelity = Fidelity::measure, .ok = true, .seconds = 2.0},
      {.point = {2}, .fidelity = Fidelity::screen, .ok = true, .seconds = 1.0},
      {.point = {3}, .fidelity = Fidelity::measure, .ok = false, .seconds = 0.5}};
  EXPECT_DOUBLE_EQ(give_up_above(history), 2.1);
  EXPECT_GT(give_up_above({}), 1e200);
}

TEST(Strategies, AnUnknownNameListsTheOthers) {
  try {
    strategy_named("greedy");
    FAIL();
  } catch (const ParseError& error) {
    EXPECT_STREQ(
        error.what(),
        "'greedy' is not a strategy: there are model, halving, local, evolve, ranked, random, "
        "exhaustive");
  }
}

/// 20^8 points: too many to rank, and far too many for samples to hit the best one.
TEST(Ranking, FindsTheBestOfALargeSpace) {
  Space space;
  for (int i = 0; i < 8; ++i)
    space.choices.push_back({.name = "x", .values = std::vector<std::string>(20)});
  space.why_not = [](const Point&) { return std::nullopt; };
  space.predict = [](const Point& point) {
    double seconds = 1.0;
    for (int i = 0; i < point.size(); ++i) seconds += std::abs(point[i] - (3 * i + 5) % 20);
    return seconds;
  };
  EXPECT_DOUBLE_EQ(ranking(space, 1)[0].predicted, 1.0);
}

TEST(Ranking, BeginsWithTheBest) {
  const Space space = toy_space();
  const auto ranked = ranking(space, 1);
  ASSERT_GT(ranked.size(), 100U);
  double least = 1e300;
  walk(space, [&](const Point& point) {
    least = std::min(least, space.predict(point));
    return true;
  });
  EXPECT_DOUBLE_EQ(ranked[0].predicted, least);
}

/// What the model can't tell apart is ordered by how much it differs, refinements left out.
TEST(Ranking, BeginsWithVarietyWhereTheModelSeesNone) {
  Space space = toy_space();
  space.predict = [](const Point&) { return 1.0; };
  space.choices[0].is_refinement = true;
  const auto ranked = ranking(space, 1);
  EXPECT_EQ(distance(space, ranked[0].point, ranked[1].point),
            static_cast<int>(space.choices.size()) - 1);
  std::set<std::string> texts;
  for (const Ranked& one : ranked) EXPECT_TRUE(texts.insert(space.text(one.point)).second);
}

}  // namespace
}  // namespace loopbrick
