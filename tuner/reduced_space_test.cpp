#include "tuner/reduced_space.h"

#include <gtest/gtest.h>

#include <set>

#include "tuner/toy_space.h"

namespace loopbrick {
namespace {

std::set<std::string> texts(const Space& space) {
  std::set<std::string> all;
  walk(space, [&](const Point& point) { return all.insert(space.text(point)).second; });
  return all;
}

TEST(ReducedSpace, IsASmallPartOfTheWhole) {
  const Space space = toy_space();
  const std::set<std::string> whole = texts(space);
  for (const std::int64_t most : {1, 7, 100, 1000, 1'000'000}) {
    const std::set<std::string> part = texts(reduced(space, most, 3));
    EXPECT_LE(static_cast<std::int64_t>(part.size()), most);
    EXPECT_GE(static_cast<std::int64_t>(part.size()),
              std::min<std::int64_t>(most / 2, static_cast<std::int64_t>(whole.size())));
    for (const std::string& text : part) EXPECT_TRUE(whole.contains(text)) << text;
  }
}

TEST(ReducedSpace, HoldsAllValidPointsOfWhatIsKept) {
  const Space space = toy_space();
  const Space part = reduced(space, 200, 5);
  std::size_t points = 1;
  for (const Choice& choice : part.choices) points *= choice.values.size();
  std::size_t refused = 0;
  for (std::size_t i = 0; i < points; ++i) {
    Point point;
    std::size_t rest = i;
    for (const Choice& choice : part.choices) {
      point.push_back(static_cast<std::uint16_t>(rest % choice.values.size()));
      rest /= choice.values.size();
    }
    refused += first_refusal(part, point) ? 1U : 0U;
    EXPECT_DOUBLE_EQ(part.predict(point), [&] {
      Point full;
      for (int c = 0; c < point.size(); ++c)
        full.push_back(static_cast<std::uint16_t>(
            std::stoi(part.choices[static_cast<std::size_t>(c)].values[point[c]])));
      return space.predict(full);
    }());
  }
  EXPECT_EQ(texts(part).size(), points - refused);
}

TEST(ReducedSpace, FindsItsPointsByTextAndNoOthers) {
  Space space = toy_space();
  space.point = [](const std::string& text) {
    Point point;
    for (std::size_t i = 0; i < text.size(); i += 2)
      point.push_back(static_cast<std::uint16_t>(text[i] - '0'));
    return point;
  };
  const Space part = reduced(space, 100, 1);
  const std::set<std::string> known = texts(part);
  walk(space, [&](const Point& full) {
    const std::string text = space.text(full);
    const std::optional<Point> point = part.point(text);
    EXPECT_EQ(point.has_value() && !first_refusal(part, *point), known.contains(text)) << text;
    if (point) {
      EXPECT_EQ(part.text(*point), text);
    }
    return true;
  });
}

TEST(ReducedSpace, TheSeedDecides) {
  const Space space = toy_space();
  EXPECT_EQ(texts(reduced(space, 100, 4)), texts(reduced(space, 100, 4)));
  EXPECT_NE(texts(reduced(space, 100, 4)), texts(reduced(space, 100, 5)));
}

TEST(ReducedSpace, OfNothingIsNothing) {
  Space space = toy_space();
  space.why_not = [](const Point&) { return Refusal{.sentence = "nothing runs"}; };
  EXPECT_TRUE(texts(reduced(space, 100, 4)).empty());
}

}  // namespace
}  // namespace loopbrick
