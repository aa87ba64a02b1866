#include "tuner/transfer.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <tuple>
#include <variant>

#include "kernels/text.h"
#include "tuner/problem_space.h"

namespace loopbrick {

namespace {

constexpr std::size_t kMostDonors = 2;

/// Problems further apart share no habits: all sizes together differ by a factor of 64.
constexpr double kMostUnlike = 6.0;

using Sizes = std::vector<std::int64_t>;

Sizes sizes_of(const Gemm& gemm) { return {gemm.m, gemm.n, gemm.k, gemm.batch}; }
Sizes sizes_of(const Conv& conv) { return {conv.n, conv.c, conv.k, conv.p, conv.q}; }
Sizes sizes_of(const Fc& fc) { return {fc.n, fc.c, fc.k}; }
Sizes sizes_of(const Lstm& lstm) { return {lstm.t, lstm.n, lstm.c, lstm.k}; }

/// What must be equal: filter, stride, dilation and groups of a convolution.
Sizes frame_of(const Conv& conv) {
  return {conv.r,          conv.s,          conv.stride_h, conv.stride_w,
          conv.dilation_h, conv.dilation_w, conv.groups,   conv.pad_h > 0};
}
template <typename Other>
Sizes frame_of(const Other& /*shape*/) {
  return {};
}

Sizes sizes(const Shape& shape) {
  return std::visit([](const auto& one) { return sizes_of(one); }, shape);
}
Sizes frame(const Shape& shape) {
  return std::visit([](const auto& one) { return frame_of(one); }, shape);
}

/// Where the value of `point` at `choice` is in the list of `values`, or would be.
std::size_t wanted_place(const Choice& choice, const Choice& from, std::uint16_t value) {
  const auto found = std::find(choice.values.begin(), choice.values.end(), from.values[value]);
  if (found != choice.values.end()) return static_cast<std::size_t>(found - choice.values.begin());
  const std::size_t last = from.values.size() - 1;
  return last == 0 ? 0 : value * (choice.values.size() - 1) / last;
}

/// The places of a list of `count`, the nearest to `wanted` first.
std::vector<std::uint16_t> by_nearness(std::size_t count, std::size_t wanted) {
  std::vector<std::uint16_t> places(count);
  std::iota(places.begin(), places.end(), std::uint16_t{0});
  std::stable_sort(places.begin(), places.end(), [wanted](std::uint16_t left, std::uint16_t right) {
    const auto far = [wanted](std::uint16_t place) {
      return std::abs(static_cast<std::int64_t>(place) - static_cast<std::int64_t>(wanted));
    };
    return far(left) < far(right);
  });
  return places;
}

/// Nothing where another version wrote a text that this one does not read.
std::optional<Problem> readable(const std::string& text) {
  try {
    return parse_problem(text);
  } catch (const ParseError&) {
    return std::nullopt;
  }
}

/// A tuned problem and how unlike it is.
struct Donor {
  Problem problem;
  std::string choice;
  double unlikeness = 0.0;
};

std::vector<Donor> donors(const TrialContext& context, const Store& store) {
  const Store::Key key = key_of(context, true);
  std::vector<Donor> all;
  const Table table = store.query(
      "SELECT problem, choice FROM best WHERE implementation = ? AND machine = ? AND conditions = "
      "? "
      "AND problem <> ? ORDER BY problem",
      {key.implementation, key.machine, key.conditions, key.problem});
  for (const auto& row : table.rows) {
    const std::optional<Problem> problem = readable(*row[0]);
    const auto distance = problem ? unlikeness(context.problem, *problem) : std::nullopt;
    if (distance && *distance <= kMostUnlike)
      all.push_back({.problem = *problem, .choice = *row[1], .unlikeness = *distance});
  }
  std::stable_sort(all.begin(), all.end(), [](const Donor& left, const Donor& right) {
    return left.unlikeness < right.unlikeness;
  });
  all.resize(std::min(all.size(), kMostDonors));
  return all;
}

/// What the donor's schedule becomes in `space`; nothing if it is none of the donor's space, or is
/// written in a language that has changed since.
std::optional<std::string> adapted(const Donor& donor, const Space& space,
                                   const TrialContext& context) {
  const Space from = problem_space(donor.problem, context.conditions, context.station.machine,
                                   context.station.limits);
  try {
    const std::optional<Point> point = from.point ? from.point(donor.choice) : std::nullopt;
    const std::optional<Point> ours = point ? counterpart(space, from, *point) : std::nullopt;
    return ours ? std::optional(space.text(*ours)) : std::nullopt;
  } catch (const ParseError&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<double> unlikeness(const Problem& left, const Problem& right) {
  const auto fixed = [](const Problem& problem) {
    return std::tuple(problem.shape.index(), problem.pass, problem.type, problem.layout);
  };
  if (fixed(left) != fixed(right) || frame(left.shape) != frame(right.shape)) return std::nullopt;
  const Sizes ours = sizes(left.shape);
  const Sizes theirs = sizes(right.shape);
  double sum = 0.0;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const auto size = [](std::int64_t count) {
      return static_cast<double>(std::max<std::int64_t>(1, count));
    };
    sum += std::abs(std::log2(size(ours[i]) / size(theirs[i])));
  }
  return sum;
}

std::optional<Point> counterpart(const Space& to, const Space& from, const Point& point) {
  Point result;
  if (to.why_not(result)) return std::nullopt;
  for (const Choice& choice : to.choices) {
    std::size_t wanted = 0;
    for (std::size_t i = 0; i < from.choices.size(); ++i) {
      if (from.choices[i].name != choice.name) continue;
      wanted = wanted_place(choice, from.choices[i], point[static_cast<int>(i)]);
    }
    const int level = result.size();
    for (const std::uint16_t place : by_nearness(choice.values.size(), wanted)) {
      result.push_back(place);
      if (!to.why_not(result)) break;
      result.pop_back();
    }
    if (result.size() == level) return std::nullopt;
  }
  return result;
}

std::vector<std::string> transferred_schedules(const Space& space, const TrialContext& context,
                                               const Store& store) {
  std::vector<std::string> schedules;
  for (const Donor& donor : donors(context, store)) {
    const std::optional<std::string> schedule = adapted(donor, space, context);
    if (schedule && std::find(schedules.begin(), schedules.end(), *schedule) == schedules.end())
      schedules.push_back(*schedule);
  }
  return schedules;
}

}  // namespace loopbrick
