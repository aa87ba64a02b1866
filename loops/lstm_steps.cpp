#include "loops/lstm_steps.h"

#include "loops/plan.h"

namespace loopbrick {

namespace {

using Answer = std::optional<Refusal>;
using Read = std::variant<LstmSteps, Refusal>;

Refusal refusal(const char* sentence, Axis axis = Axis::none) {
  return {.sentence = sentence, .axis = axis == Axis::none ? '?' : static_cast<char>(axis)};
}

bool has_loop(const Step& step, Axis axis) {
  for (const Element& element : step.elements) {
    if (!element.is_pack() && element.loop.axis == axis) return true;
  }
  return false;
}

bool sums_over(const Step& step, Axis axis) {
  for (const Sum& sum : step.sums) {
    if (sum.axis == axis) return true;
  }
  return false;
}

/// A step as if it stood alone.
Step alone(Step step) {
  step.name = {};
  step.depth = 0;
  step.barrier = false;
  return step;
}

int steps_inside(const Schedule& schedule, int at) {
  int found = 0;
  while (at + 1 + found < schedule.steps.size() && schedule.steps[at + 1 + found].depth > 0)
    ++found;
  return found;
}

/// "t { ... ; }": what walks the time steps, and how many steps stand inside.
Answer check_time_loop(const Schedule& schedule, int at, int inside) {
  if (at >= schedule.steps.size() || schedule.steps[at].body != Body::block)
    return refusal("time steps depend on each other: they stand in 't { ... ; }'");
  const Step& block = schedule.steps[at];
  const bool is_time = block.elements.size() == 1 && !block.elements[0].is_pack() &&
                       block.elements[0].loop == Loop{.axis = Axis::t};
  if (!is_time || !(block.marks == Marks{}) || block.once)
    return refusal("the braces of an lstm stand behind a plain 't', one time step a round");
  const int found = steps_inside(schedule, at);
  if (found != inside || schedule.steps[at + found].depth > 1) {
    return Refusal{.sentence = "inside 't { }' stand {limit} steps in this pass, not {got}",
                   .got = found,
                   .limit = inside};
  }
  if (!schedule.steps[at + found].barrier)
    return refusal("';' is missing before '}': the next step of {axis} needs all of h", Axis::t);
  return std::nullopt;
}

Read forward_steps(const Schedule& schedule) {
  LstmSteps read;
  const bool is_fused = schedule.steps[0].body == Body::block;
  const int time = is_fused ? 0 : 1;
  if (const Answer no = check_time_loop(schedule, time, 1)) return *no;
  if (schedule.steps.size() != time + 2)
    return refusal("behind 't { }' this pass has nothing left to do");
  const Step& cell = schedule.steps[time + 1];
  if (is_fused) {
    if (cell.sums.size() != 2 || cell.sums[0].axis != Axis::c || cell.sums[1].axis != Axis::h)
      return refusal("the cell sums over c and h: '@ c64 * c + h64 * h'");
    for (const Axis axis : {Axis::c, Axis::h}) {
      if (has_loop(cell, axis))
        return refusal("a step with two sums has no loop over {axis}", axis);
    }
  } else {
    if (!schedule.steps[0].barrier) return refusal("';' is missing before 't { }'");
    if (cell.sums.size() != 1 || cell.sums[0].axis != Axis::h)
      return refusal("the products with x are done: the cell sums over {axis} only", Axis::h);
    read.inputs = alone(schedule.steps[0]);
  }
  read.cell = alone(cell);
  for (const Element& element : cell.elements) {
    if (!element.is_pack() && element.loop.axis == Axis::g && element.loop.parallel)
      return refusal("a cell needs its four gates: threads cannot share {axis}", Axis::g);
  }
  if (cell.marks.rotate == Axis::g)
    return refusal("a cell ends with its last gate: {axis} starts with the first", Axis::g);
  return read;
}

/// Where a step behind the time loop belongs, by what it sums and walks.
std::optional<Step>& place_of(LstmSteps& read, const Step& step) {
  if (sums_over(step, Axis::k)) return read.dx;
  return has_loop(step, Axis::h) ? read.dr : read.dw;
}

Read backward_steps(const Schedule& schedule) {
  LstmSteps read;
  read.gradients_in_time = steps_inside(schedule, 0) > 2;
  if (const Answer no = check_time_loop(schedule, 0, read.gradients_in_time ? 5 : 2)) return *no;
  const Step& elementwise = schedule.steps[1];
  if (elementwise.body != Body::elt || !(elementwise.marks == Marks{}))
    return refusal("the first step inside 't { }' is element-wise and has no marks: 'N24 K64 elt'");
  if (!elementwise.barrier) return refusal("';' is missing behind elt: dh needs all of dz");
  if (!read.gradients_in_time && !schedule.steps[0].barrier)
    return refusal("';' is missing behind 't { }'");
  for (int i = 2; i < schedule.steps.size(); ++i) {
    const bool ends_braces = schedule.steps[i].depth == 1 &&
                             (i + 1 == schedule.steps.size() || schedule.steps[i + 1].depth == 0);
    if (schedule.steps[i].barrier && !ends_braces)
      return refusal("dh, dx, dw and dr need no barrier between or behind them: ','");
  }
  read.elementwise = alone(elementwise);
  read.dh = alone(schedule.steps[2]);
  for (int i = 3; i < schedule.steps.size(); ++i) {
    std::optional<Step>& place = place_of(read, schedule.steps[i]);
    if (place) return refusal("two steps compute the same gradient");
    place = alone(schedule.steps[i]);
  }
  if (!read.dx) return refusal("nobody computes dx: 'T N24 C64 @ k64 * g k'");
  if (!read.dw) return refusal("nobody computes dw: 'C64 K64 g @ n24 * n t'");
  if (!read.dr) return refusal("nobody computes dr: 'H64 K64 g @ n24 * n t'");
  return read;
}

Answer check(const Contraction& contraction, const Step& step, const Conditions& conditions) {
  for (const Element& element : step.elements) {
    if (element.is_pack()) return refusal("an lstm packs nothing");
  }
  if (step.marks.deal == Deal::dynamic) return refusal("an lstm is dealt out evenly");
  Schedule schedule;
  schedule.steps.push_back(step);
  return why_not(contraction, schedule, conditions);
}

/// The element-wise part has no sum: it is checked with one of nothing.
Answer check_elementwise(const Lstm& lstm, Step step, const Conditions& conditions) {
  Contraction to = lstm_contraction(lstm, LstmProduct::state);
  to.outputs = {Axis::n, Axis::k};
  to.sums = {Axis::h};
  to.extents[place(Axis::g)] = kNoAxis;
  to.extents[place(Axis::h)] = 1;
  step.body = Body::call;
  step.sums = {Sum{.axis = Axis::h, .depth = 1, .batch = {}}};
  return check(to, step, conditions);
}

Answer check_sum(const Lstm& lstm, LstmProduct product, const Step& step, Axis axis,
                 const Conditions& conditions) {
  return check(lstm_contraction(lstm, product), with_sum(step, axis), conditions);
}

Answer check_steps(const Lstm& lstm, const LstmSteps& steps, const Conditions& conditions) {
  if (steps.inputs) {
    if (const Answer no =
            check(lstm_contraction(lstm, LstmProduct::inputs), *steps.inputs, conditions))
      return no;
  }
  if (steps.is_fused()) {
    if (const Answer no = check_sum(lstm, LstmProduct::input, *steps.cell, Axis::c, conditions))
      return no;
  }
  if (steps.cell) return check_sum(lstm, LstmProduct::state, *steps.cell, Axis::h, conditions);
  if (const Answer no = check_elementwise(lstm, *steps.elementwise, conditions)) return no;
  const auto product = [&](LstmProduct which, const std::optional<Step>& step) {
    return check(lstm_contraction(lstm_of_gradients(lstm, steps), which), *step, conditions);
  };
  if (const Answer no = product(LstmProduct::dh, steps.dh)) return no;
  if (const Answer no = product(LstmProduct::dx, steps.dx)) return no;
  if (const Answer no = product(LstmProduct::dw, steps.dw)) return no;
  return product(LstmProduct::dr, steps.dr);
}

}  // namespace

Lstm lstm_of_gradients(const Lstm& lstm, const LstmSteps& steps) {
  Lstm one = lstm;
  if (steps.gradients_in_time) one.t = 1;
  return one;
}

std::variant<LstmSteps, Refusal> lstm_steps(Pass pass, const Schedule& schedule) {
  return pass == Pass::bwd ? backward_steps(schedule) : forward_steps(schedule);
}

Step with_sum(const Step& step, Axis axis) {
  Step one = step;
  one.sums.clear();
  for (const Sum& sum : step.sums) {
    if (sum.axis == axis) one.sums.push_back(sum);
  }
  return one;
}

std::optional<Refusal> why_not_lstm(const Problem& problem, const Schedule& schedule,
                                    const Conditions& conditions) {
  if (problem.type != DType::f32) return refusal("only f32 has kernels");
  if (problem.layout != Layout::blocked)
    return refusal("activations of an lstm lie in blocks of features: there is no other layout");
  const std::variant<LstmSteps, Refusal> read = lstm_steps(problem.pass, schedule);
  if (const auto* no = std::get_if<Refusal>(&read)) return *no;
  return check_steps(std::get<Lstm>(problem.shape), std::get<LstmSteps>(read), conditions);
}

}  // namespace loopbrick
