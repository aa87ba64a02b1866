#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/few.h"
#include "problems/refusal.h"

namespace loopbrick {

using Random = std::mt19937_64;

/// One decision of a search space: a name and its values as texts, the plainest first.
struct Choice {
  std::string name;
  std::vector<std::string> values;
  bool is_refinement = false;  ///< worth trying on good points; by itself no variety
};

/// Indices into the choices' values, in order; shorter than the choices: a prefix, which stands for
/// its subtree.
using Point = Few<std::uint16_t, 20>;

/// What can be chosen and what that means, typeless: loop nests, tiles of another language and
/// compiler flags are searched by the same strategies.
///
/// Needs  why_not is asked about a prefix only after its own prefixes were not refused.
struct Space {
  std::vector<Choice> choices;                                  ///< in the order they are fixed
  std::function<std::optional<Refusal>(const Point&)> why_not;  ///< of a prefix: prunes its subtree
  std::function<std::string(const Point&)> text;                ///< of a full point
  std::function<double(const Point&)> predict;                  ///< seconds of a full point

  /// Optional: the point with this text, if there is one; how a search knows its earlier results.
  std::function<std::optional<Point>(const std::string&)> point;

  /// Optional: prefixes of one length with equal states have equal subtrees, which are counted
  /// once.
  std::function<std::uint64_t(const Point&)> state;
};

/// Why this point (or prefix) is not in the space, by the first rule that cuts it.
std::optional<Refusal> first_refusal(const Space& space, const Point& point);

/// Calls `visit(point)` for every full point, first choice slowest, until it returns false.
///
/// Memory is constant: the point is the only state. Returns how many points were visited.
template <typename Visit>
std::int64_t walk(const Space& space, Visit&& visit) {
  std::int64_t visited = 0;
  const int choices = static_cast<int>(space.choices.size());
  Point point;
  if (choices == 0 || space.why_not(point)) return visited;
  point.push_back(0);
  while (true) {
    const auto level = static_cast<std::size_t>(point.size() - 1);
    if (point.back() == space.choices[level].values.size()) {
      point.pop_back();
      if (point.empty()) return visited;
    } else if (!space.why_not(point)) {
      if (point.size() < choices) {
        point.push_back(0);
        continue;
      }
      ++visited;
      if (!visit(std::as_const(point))) return visited;
    }
    ++point.back();
  }
}

/// The full point that a walk visits behind `point` (a full one), or the first if there is none.
std::optional<Point> next_point(const Space& space, const std::optional<Point>& point);

/// Raw combinations that one rule cut, in subtrees that no earlier rule had cut.
struct Cut {
  const char* sentence = "";  ///< Refusal::sentence
  std::int64_t combinations = 0;
};

/// How large a space is; `raw` is `leaves` plus all cuts. Counts stop at INT64_MAX.
struct Counts {
  std::int64_t leaves = 0;
  std::int64_t raw = 0;
  std::int64_t asked = 0;  ///< prefixes that why_not was asked about to find this out
  std::vector<Cut> cuts;   ///< in the order the rules were first met
};

/// Counts without listing: equal subtrees (Space::state) are walked once, in bounded memory.
Counts count(const Space& space);

/// A valid full point, or nothing if none was found: every choice in turn takes one of its values
/// that is not refused, at random; a dead end starts again.
std::optional<Point> sample(const Space& space, Random& random);

/// `point` with another value for one choice; later choices keep theirs where that is not refused,
/// and take one at random where it is. Nothing if that leads to a dead end.
std::optional<Point> changed(const Space& space, const Point& point, int choice,
                             std::uint16_t value, Random& random);

/// A point that takes each choice from one of two full points at random: from the other where that
/// is refused, and any value where both are. Nothing if that leads to a dead end.
std::optional<Point> crossed(const Space& space, const Point& left, const Point& right,
                             Random& random);

}  // namespace loopbrick
