#include "tuner/reduced_space.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>
#include <vector>

namespace loopbrick {

namespace {

/// Of each choice the places of the values that are left.
using Kept = std::vector<std::vector<std::uint16_t>>;

/// A step that leaves fewer than this share of `most` took too much at once.
constexpr std::int64_t kLeastShare = 2;

/// Steps in a row that took too much, until one is taken all the same.
constexpr int kMostRefusals = 60;

Point outside(const Kept& kept, const Point& point) {
  Point full;
  for (int i = 0; i < point.size(); ++i)
    full.push_back(kept[static_cast<std::size_t>(i)][point[i]]);
  return full;
}

std::optional<Point> inside(const Kept& kept, const Point& full) {
  Point point;
  for (int i = 0; i < full.size(); ++i) {
    const auto& values = kept[static_cast<std::size_t>(i)];
    const auto found = std::find(values.begin(), values.end(), full[i]);
    if (found == values.end()) return std::nullopt;
    point.push_back(static_cast<std::uint16_t>(found - values.begin()));
  }
  return point;
}

Space part_of(const Space& space, const Kept& kept) {
  Space part;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    Choice choice{.name = space.choices[i].name,
                  .values = {},
                  .is_refinement = space.choices[i].is_refinement};
    for (const std::uint16_t value : kept[i])
      choice.values.push_back(space.choices[i].values[value]);
    part.choices.push_back(choice);
  }
  const auto on_whole = [kept](auto function) {
    return [kept, function](const Point& point) { return function(outside(kept, point)); };
  };
  part.why_not = on_whole(space.why_not);
  part.text = on_whole(space.text);
  part.predict = on_whole(space.predict);
  if (space.state) part.state = on_whole(space.state);
  if (space.point) {
    part.point = [kept, point = space.point](const std::string& text) -> std::optional<Point> {
      const std::optional<Point> full = point(text);
      return full ? inside(kept, *full) : std::nullopt;
    };
  }
  return part;
}

/// The points of a part, or `most` + 1 where there are more.
std::int64_t points_up_to(const Space& space, const Kept& kept, std::int64_t most) {
  std::int64_t count = 0;
  walk(part_of(space, kept), [&](const Point&) { return ++count <= most; });
  return count;
}

/// Without one value that is not of the point `first`: the more values a choice has, the likelier
/// it loses one. False if no choice has a second one.
bool drop_one(Kept& kept, const Point& first, Random& random) {
  std::size_t spare = 0;
  for (const auto& values : kept) spare += values.size() - 1;
  if (spare == 0) return false;
  std::size_t drawn = random() % spare;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (drawn >= kept[i].size() - 1) {
      drawn -= kept[i].size() - 1;
      continue;
    }
    const std::uint16_t value = kept[i][drawn];
    const bool is_first = value == first[static_cast<int>(i)];
    kept[i].erase(kept[i].begin() + static_cast<std::ptrdiff_t>(is_first ? drawn + 1 : drawn));
    return true;
  }
  return false;
}

Kept all_of(const Space& space) {
  Kept kept;
  for (const Choice& choice : space.choices) {
    kept.emplace_back(choice.values.size());
    std::iota(kept.back().begin(), kept.back().end(), std::uint16_t{0});
  }
  return kept;
}

}  // namespace

Space reduced(const Space& space, std::int64_t most, std::uint64_t seed) {
  assert(most >= 1);
  const std::optional<Point> first = next_point(space, std::nullopt);
  if (!first) return space;
  Random random(seed);
  Kept kept = all_of(space);
  int refusals = 0;
  while (points_up_to(space, kept, most) > most) {
    Kept fewer = kept;
    drop_one(fewer, *first, random);
    const bool is_much = points_up_to(space, fewer, most) < most / kLeastShare;
    refusals = is_much ? refusals + 1 : 0;
    if (!is_much || refusals > kMostRefusals) kept = std::move(fewer);
  }
  return part_of(space, kept);
}

}  // namespace loopbrick
