#include <algorithm>

#include "tuner/conv_weights_space.h"

// From a schedule back to the point that means it.

namespace loopbrick {

namespace {

template <typename T, typename Same>
std::optional<std::uint16_t> index_if(const std::vector<T>& values, Same same) {
  const auto found = std::find_if(values.begin(), values.end(), same);
  if (found == values.end()) return std::nullopt;
  return static_cast<std::uint16_t>(found - values.begin());
}

/// The step of the loop over an axis, or 0 if there is none: the call takes all of it.
int step_of(const Step& step, Axis axis) {
  for (const Element& element : step.elements) {
    if (!element.is_pack() && element.loop.axis == axis) return element.loop.step;
  }
  return 0;
}

}  // namespace

/// What a call does is read from the text; of orders, sharing and copies there are so few that
/// those that give the same schedule are found by trying.
std::optional<Point> ConvWeightsSpace::point(const Schedule& schedule) const {
  if (schedule.steps.size() != 1 || schedule.steps[0].sums.size() != 1) return std::nullopt;
  const Step& step = schedule.steps[0];
  const Sum& sum = step.sums[0];
  Point point;
  bool is_known = true;
  const auto fix = [&](const auto& values, auto same) {
    const std::optional<std::uint16_t> index = index_if(values, same);
    is_known = is_known && index.has_value();
    point.push_back(index.value_or(0));
  };
  const auto is = [](auto wanted) {
    return [wanted](const auto& value) { return value == wanted; };
  };
  const bool walks_images =
      std::find(sum.batch.begin(), sum.batch.end(), Axis::n) != sum.batch.end();
  fix(cols_, is(step_of(step, Axis::k)));
  fix(rows_, is(step_of(step, Axis::c)));
  fix(depths_, is(static_cast<int>(sum.depth)));
  fix(lines_, is(step_of(step, Axis::p)));
  fix(images_, is(static_cast<std::uint8_t>(walks_images ? 1 : 0)));
  fix(forms_, is(step.marks.batch));
  fix(aheads_, is(static_cast<int>(step.marks.ahead)));
  const auto tile = index_if(tiles_, [&step](const RegisterTile& each) {
    return each.rows == step.marks.tile_rows && each.cols == step.marks.tile_cols;
  });
  if (!is_known || !tile) return std::nullopt;
  for (std::uint16_t order = 0; order < orders_.size(); ++order) {
    for (std::uint16_t share = 0; share < shares_.size(); ++share) {
      for (std::uint16_t ways = 0; ways < ways_.size(); ++ways) {
        Point full = point;
        for (const std::uint16_t place : {order, share, ways, *tile}) full.push_back(place);
        if (this->schedule(full) == schedule && !refuses_any_prefix(full)) return full;
      }
    }
  }
  return std::nullopt;
}

bool ConvWeightsSpace::refuses_any_prefix(const Point& point) const {
  Point prefix;
  for (const std::uint16_t value : point) {
    prefix.push_back(value);
    if (why_not(prefix)) return true;
  }
  return false;
}

}  // namespace loopbrick
