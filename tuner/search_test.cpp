#include "tuner/search.h"

#include <gtest/gtest.h>

#include "tuner/toy_space.h"

namespace loopbrick {
namespace {

Attempt timed(std::initializer_list<double> seconds) {
  Attempt attempt;
  for (const double each : seconds) attempt.samples.push_back({.seconds = each});
  return attempt;
}

/// Asks about the points of a list, in order.
Strategy list_of(std::vector<Ask> asks) {
  return [asks](std::span<const Seen> history) -> std::optional<Ask> {
    if (history.size() == asks.size()) return std::nullopt;
    return asks[history.size()];
  };
}

struct World {
  std::vector<Attempt> attempts;
  std::vector<std::string> evaluated;
  std::vector<Sampling> samplings;

  SearchTools tools() {
    return {.evaluate =
                [this](const std::string& choice, const Sampling& sampling) {
                  evaluated.push_back(choice);
                  samplings.push_back(sampling);
                  return attempts[evaluated.size() - 1];
                },
            .keep = [this](const Candidate&,
                           const Attempt&) { return static_cast<std::int64_t>(evaluated.size()); },
            .go_on = [] { return true; }};
  }
};

/// Most samples of a good candidate may be disturbed: its median says nothing about it then.
TEST(Search, TheFastestSampleCounts) {
  World world{
      .attempts = {timed({3, 1, 7, 9, 8}), timed({3, 1, 2})}, .evaluated = {}, .samplings = {}};
  const auto found = search(toy_space(),
                            list_of({{.point = {1, 2, 3, 4}, .give_up_above = 7.0},
                                     {.point = {1, 2, 3, 5}, .fidelity = Fidelity::screen}}),
                            {.least_calls = 3, .samples = 5}, world.tools());
  ASSERT_EQ(found.size(), 2U);
  EXPECT_DOUBLE_EQ(found[0].seconds, 1.0);
  EXPECT_DOUBLE_EQ(found[1].seconds, 1.0);
  EXPECT_EQ(found[1].trial, 2);
  EXPECT_EQ(world.samplings[0].samples, 5);
  EXPECT_DOUBLE_EQ(world.samplings[0].give_up_above, 7.0);
  EXPECT_EQ(world.samplings[1].samples, 0);
  EXPECT_EQ(world.evaluated, (std::vector<std::string>{"1 2 3 4", "1 2 3 5"}));
}

TEST(Search, AFailureIsAnAnswer) {
  Attempt wrong;
  wrong.outcome = "wrong_result";
  World world{.attempts = {wrong, timed({1, 1, 1, 1, 1})}, .evaluated = {}, .samplings = {}};
  const auto found =
      search(toy_space(), list_of({{.point = {1, 2, 3, 4}}, {.point = {1, 2, 3, 5}}}),
             {.samples = 5}, world.tools());
  EXPECT_FALSE(found[0].ok);
  EXPECT_TRUE(found[1].ok);
  EXPECT_EQ(fastest(found, 5).size(), 1U);
}

TEST(Search, WhatIsKnownIsNotEvaluatedAgain) {
  World world{.attempts = {timed({1, 1, 1, 1, 1})}, .evaluated = {}, .samplings = {}};
  SearchTools tools = world.tools();
  tools.recall = [](const std::string& choice, const Ask&) -> std::optional<Candidate> {
    if (choice != "1 2 3 4") return std::nullopt;
    return Candidate{.ok = true, .seconds = 0.5, .trial = 77};
  };
  const auto found =
      search(toy_space(), list_of({{.point = {1, 2, 3, 4}}, {.point = {1, 2, 3, 5}}}),
             {.samples = 5}, tools);
  EXPECT_EQ(world.evaluated, (std::vector<std::string>{"1 2 3 5"}));
  EXPECT_EQ(found[0].trial, 77);
  EXPECT_EQ(found[0].choice, "1 2 3 4");
}

TEST(Search, TheFirstChoiceIsAskedEvenIfMuchIsKnown) {
  World world{.attempts = {timed({1, 1, 1, 1, 1})}, .evaluated = {}, .samplings = {}};
  SearchTools tools = world.tools();
  tools.known = {
      {.point = {9, 1, 1, 1}, .choice = "9 1 1 1", .ok = true, .seconds = 4.0, .trial = 5}};
  std::size_t seen = 0;
  const Strategy strategy = [&seen](std::span<const Seen> history) -> std::optional<Ask> {
    seen = history.size();
    if (history.empty()) return Ask{.point = {1, 2, 3, 4}};
    return std::nullopt;
  };
  const auto found = search(toy_space(), strategy, {.samples = 5}, tools);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(seen, 2U);
  EXPECT_EQ(found[0].choice, "1 2 3 4");
  EXPECT_EQ(found[1].trial, 5);
}

TEST(Search, EndsWhenItMayNotGoOn) {
  World world{.attempts = {timed({1, 1, 1, 1, 1})}, .evaluated = {}, .samplings = {}};
  SearchTools tools = world.tools();
  tools.go_on = [&world] { return world.evaluated.empty(); };
  EXPECT_EQ(
      search(toy_space(), list_of({{.point = {1, 2, 3, 4}}, {.point = {1, 2, 3, 5}}}), {}, tools)
          .size(),
      1U);
}

TEST(Fastest, TakesMeasuredBeforeScreenedAndBreaksTiesByText) {
  std::vector<Candidate> all{
      {.choice = "b", .ok = true, .seconds = 2.0},
      {.choice = "a", .ok = true, .seconds = 2.0},
      {.choice = "c", .fidelity = Fidelity::screen, .ok = true, .seconds = 1.0},
      {.choice = "d", .ok = false, .seconds = 0.0},
      {.choice = "b", .ok = true, .seconds = 3.0}};
  const auto best = fastest(all, 5);
  ASSERT_EQ(best.size(), 2U);
  EXPECT_EQ(best[0].choice, "a");
  EXPECT_EQ(best[1].choice, "b");
  EXPECT_DOUBLE_EQ(best[1].seconds, 2.0);
  EXPECT_EQ(fastest({all[2]}, 5).size(), 1U);
}

}  // namespace
}  // namespace loopbrick
