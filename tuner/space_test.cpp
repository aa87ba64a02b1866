#include "tuner/space.h"

#include <gtest/gtest.h>

#include <set>

#include "tuner/toy_space.h"

namespace loopbrick {
namespace {

std::vector<std::string> walked(const Space& space) {
  std::vector<std::string> texts;
  walk(space, [&](const Point& point) {
    texts.push_back(space.text(point));
    return true;
  });
  return texts;
}

bool is_in_toy_space(const Point& point) {
  return point[0] + point[1] <= 12 && !(point[2] % 2 == 1 && point[3] == 0);
}

TEST(Space, WalkVisitsEveryValidPointOnceInOrder) {
  std::vector<std::string> expected;
  const Space space = toy_space();
  for (std::uint16_t i = 0; i < 10000; ++i) {
    const auto digit = [i](int power) { return static_cast<std::uint16_t>(i / power % 10); };
    const Point point{digit(1000), digit(100), digit(10), digit(1)};
    if (is_in_toy_space(point)) expected.push_back(space.text(point));
  }
  EXPECT_EQ(walked(space), expected);
}

TEST(Space, WalkEndsWhenTheVisitorSaysSo) {
  int visited = 0;
  EXPECT_EQ(walk(toy_space(), [&](const Point&) { return ++visited < 5; }), 5);
  EXPECT_EQ(visited, 5);
}

TEST(Space, NextPointFollowsTheWalk) {
  const Space space = toy_space();
  std::vector<std::string> texts;
  for (auto point = next_point(space, std::nullopt); point; point = next_point(space, point)) {
    texts.push_back(space.text(*point));
  }
  EXPECT_EQ(texts, walked(space));
}

TEST(Space, CountsLeavesAndWhatEachRuleCut) {
  const Counts counts = count(toy_space());
  EXPECT_EQ(counts.raw, 10000);
  EXPECT_EQ(counts.leaves, static_cast<std::int64_t>(walked(toy_space()).size()));
  ASSERT_EQ(counts.cuts.size(), 2U);
  EXPECT_EQ(counts.cuts[0].combinations, 79 * 5);  // pairs below the limit, odd c, d = 0
  EXPECT_EQ(counts.cuts[1].combinations, 21 * 100);
  EXPECT_EQ(counts.leaves + counts.cuts[0].combinations + counts.cuts[1].combinations, counts.raw);
}

TEST(Space, EqualSubtreesAreCountedOnce) {
  Space space = toy_space();
  const Counts plain = count(space);
  space.state = [](const Point& point) {
    return point.size() == 3 ? point[2] % 2 : point.size() == 1 ? point[0] : 0;
  };
  const Counts quick = count(space);
  EXPECT_EQ(quick.leaves, plain.leaves);
  EXPECT_EQ(quick.cuts[0].combinations, plain.cuts[0].combinations);
  EXPECT_EQ(quick.cuts[1].combinations, plain.cuts[1].combinations);
  EXPECT_LT(quick.asked * 10, plain.asked);
}

TEST(Space, CountsStopAtTheLargestNumber) {
  Space space = toy_space();
  for (int i = 0; i < 16; ++i) space.choices.push_back(space.choices[0]);
  space.why_not = [](const Point&) { return std::nullopt; };
  space.state = [](const Point&) { return 0; };
  const Counts counts = count(space);
  EXPECT_EQ(counts.raw, INT64_MAX);
  EXPECT_EQ(counts.leaves, INT64_MAX);
}

TEST(Space, SamplesAreValidAndReachEverywhere) {
  const Space space = toy_space();
  Random random(1);
  std::set<std::uint16_t> first_values;
  for (int i = 0; i < 500; ++i) {
    const auto point = sample(space, random);
    ASSERT_TRUE(point);
    EXPECT_FALSE(first_refusal(space, *point)) << space.text(*point);
    first_values.insert((*point)[0]);
  }
  EXPECT_EQ(first_values.size(), 10U);
}

TEST(Space, SampleOfAnEmptySpaceIsNothing) {
  Space space = toy_space();
  space.why_not = [](const Point& point) -> std::optional<Refusal> {
    if (point.size() == 4) return Refusal{.sentence = "never"};
    return std::nullopt;
  };
  Random random(1);
  EXPECT_FALSE(sample(space, random));
  EXPECT_FALSE(next_point(space, std::nullopt));
}

TEST(Space, ChangedKeepsWhatItCan) {
  const Space space = toy_space();
  Random random(1);
  const auto free = changed(space, {1, 2, 3, 4}, 2, 5, random);
  ASSERT_TRUE(free);
  EXPECT_EQ(*free, (Point{1, 2, 5, 4}));
  const auto repaired = changed(space, {1, 9, 3, 4}, 0, 9, random);  // 9 + 9 is too much
  ASSERT_TRUE(repaired);
  EXPECT_EQ((*repaired)[0], 9);
  EXPECT_LE((*repaired)[1], 3);
  EXPECT_EQ((*repaired)[2], 3);
}

TEST(Space, FirstRefusalNamesTheRuleThatCutsFirst) {
  EXPECT_EQ(first_refusal(toy_space(), {9, 9, 1, 0})->sentence,
            std::string("a and b are too much"));
  EXPECT_EQ(first_refusal(toy_space(), {1, 1, 1, 0})->sentence, std::string("odd c needs d"));
  EXPECT_FALSE(first_refusal(toy_space(), {1, 1, 1, 1}));
}

}  // namespace
}  // namespace loopbrick
