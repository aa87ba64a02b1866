#include "tuner/by_data_letters.h"

#include <array>

namespace loopbrick {

namespace {

using Letters = std::array<std::array<Axis, 2>, 4>;

constexpr Letters kToByData = {
    {{Axis::k, Axis::c}, {Axis::c, Axis::k}, {Axis::p, Axis::h}, {Axis::q, Axis::w}}};
constexpr Letters kToForward = {
    {{Axis::k, Axis::c}, {Axis::c, Axis::k}, {Axis::h, Axis::p}, {Axis::w, Axis::q}}};

constexpr std::array<char, 4> kInput{'x'};
constexpr std::array<char, 4> kGradient{'d', 'y'};

void rename(Axis& axis, const Letters& letters) {
  for (const auto& [from, to] : letters) {
    if (axis != from) continue;
    axis = to;
    return;
  }
}

void rename(Step& step, const Letters& letters) {
  for (Element& element : step.elements) {
    rename(element.loop.axis, letters);
    rename(element.loop.fused, letters);
  }
  for (Sum& sum : step.sums) {
    rename(sum.axis, letters);
    for (Axis& axis : sum.batch) rename(axis, letters);
  }
  for (Axis* axis : {&step.marks.vec, &step.marks.next, &step.marks.rotate}) rename(*axis, letters);
}

void rename(Step& step, const std::array<char, 4>& from, const std::array<char, 4>& to) {
  for (Element& element : step.elements) {
    if (element.pack.operand == from) element.pack.operand = to;
  }
}

bool comes_behind_phases(const Loop& loop) {
  return loop.axis == Axis::h || loop.axis == Axis::w || loop.axis == Axis::r ||
         loop.axis == Axis::s;
}

int place_of_phases(const Step& step) {
  int at = 0;
  while (at < step.elements.size() && !comes_behind_phases(step.elements[at].loop)) ++at;
  for (int i = at; i < step.elements.size(); ++i) {
    if (step.elements[i].loop.parallel) return 0;
  }
  return at;
}

void insert_phases(Step& step) {
  const int at = place_of_phases(step);
  Few<Element, 12> elements;
  for (int i = 0; i <= step.elements.size(); ++i) {
    if (i == at) elements.push_back({.loop = {.axis = Axis::f}, .pack = {}});
    if (i < step.elements.size()) elements.push_back(step.elements[i]);
  }
  step.elements = elements;
}

}  // namespace

Schedule by_data_letters(Schedule schedule, bool has_phases) {
  for (Step& step : schedule.steps) {
    rename(step, kToByData);
    rename(step, kInput, kGradient);
    if (has_phases) insert_phases(step);
  }
  return schedule;
}

Schedule forward_letters(Schedule schedule) {
  for (Step& step : schedule.steps) {
    rename(step, kToForward);
    rename(step, kGradient, kInput);
    Few<Element, 12> elements;
    for (const Element& element : step.elements) {
      if (element.loop.axis != Axis::f) elements.push_back(element);
    }
    step.elements = elements;
  }
  return schedule;
}

}  // namespace loopbrick
