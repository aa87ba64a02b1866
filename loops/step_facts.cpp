#include "loops/step_facts.h"

#include <algorithm>

namespace loopbrick {

namespace {

Steps steps_between(const Step& step, Axis axis, int begin, int end) {
  Steps steps;
  for (int i = begin; i < end; ++i) {
    const Element& element = step.elements[i];
    if (element.is_pack() || element.loop.axis != axis || element.loop.fused != Axis::none)
      continue;
    steps.push_back(element.loop.step);
  }
  return steps;
}

}  // namespace

Steps steps_over(const Step& step, Axis axis) {
  return steps_between(step, axis, 0, step.elements.size());
}

Steps steps_over_flattened(const Step& step) {
  Steps steps;
  for (const Element& element : step.elements) {
    if (element.loop.fused != Axis::none) steps.push_back(element.loop.step);
  }
  return steps;
}

bool flattens(const Step& step) {
  for (const Element& element : step.elements) {
    if (element.loop.fused != Axis::none) return true;
  }
  return false;
}

std::int64_t last_step(const Contraction& contraction, const Step& step, Axis axis) {
  const Steps steps = steps_over(step, axis);
  const std::int64_t extent = contraction.extent(axis);
  return steps.empty() ? extent : std::min(steps.back(), extent);
}

int pack_at(const Step& step) {
  for (int i = 0; i < step.elements.size(); ++i) {
    if (step.elements[i].is_pack()) return i;
  }
  return -1;
}

int place_of_loop(const Step& step, Axis axis) {
  for (int i = 0; i < step.elements.size(); ++i) {
    if (step.elements[i].loop.axis == axis) return i;
  }
  return -1;
}

Steps steps_before(const Step& step, Axis axis, int at) { return steps_between(step, axis, 0, at); }

Steps steps_behind(const Step& step, Axis axis, int at) {
  return steps_between(step, axis, at + 1, step.elements.size());
}

std::int64_t range_before_pack(const Contraction& contraction, const Step& step, Axis axis) {
  const Steps steps = steps_before(step, axis, pack_at(step));
  const std::int64_t extent = contraction.extent(axis);
  return steps.empty() ? extent : std::min(steps.back(), extent);
}

const Step& main_step(const Schedule& schedule) { return schedule.steps.back(); }

bool transposes_once(const Schedule& schedule) {
  const Step& first = schedule.steps[0];
  return schedule.steps.size() == 2 && first.once && first.body == Body::pack &&
         first.elements.empty() && first.pack.transposed &&
         first.pack.operand == std::array<char, 4>{'w'};
}

Schedule with_weights_once(const Schedule& schedule) {
  Schedule longer;
  longer.steps.push_back({.once = true,
                          .body = Body::pack,
                          .pack = {.operand = {'w'}, .transposed = true},
                          .barrier = true});
  longer.steps.push_back(schedule.steps[0]);
  return longer;
}

bool packs_weights(const Step& step) {
  const int at = pack_at(step);
  return at >= 0 && step.elements[at].pack.operand[0] == 'w';
}

bool packs_input(const Step& step) { return pack_at(step) >= 0 && !packs_weights(step); }

std::int64_t tile_columns(const Contraction& contraction, const Step& step) {
  return last_step(contraction, step, contraction.columns);
}

std::int64_t entry_depth(const Contraction& contraction, const Step& step) {
  return std::min<std::int64_t>(step.sums[0].depth, contraction.extent(contraction.depth));
}

bool has_windows(const Contraction& contraction, const Step& step) {
  return contraction.has_rim() && step.marks.rim == Rim::window;
}

}  // namespace loopbrick
