#include "loops/lstm_forward.h"

#include <algorithm>
#include <utility>

#include "kernels/text.h"
#include "loops/own_numbers.h"
#include "loops/step_facts.h"

namespace loopbrick {

namespace {

const Step& inputs_step(const LstmSteps& steps) {
  return steps.inputs ? *steps.inputs : *steps.cell;
}

/// A depth of 1 pads nothing, and entries of any depth are dense.
LstmWeights weights_of(const Lstm& lstm, std::int64_t depth, const Step& step) {
  const Contraction axes = lstm_axes(lstm);
  return {.gate = {.k = lstm.k, .c = depth, .tile = last_step(axes, step, Axis::k)}};
}

Contraction with_weights(Contraction to, const LstmWeights& weights) {
  to.b = weights.access(to.depth);
  return to;
}

}  // namespace

std::int64_t LstmWeights::elements() const { return saturating_product(4, gate.elements()); }

Access LstmWeights::access(Axis depth) const {
  Access access = gate.access();
  std::swap(access[place(Axis::c)], access[place(depth)]);
  access[place(Axis::g)] = {.inner = gate.elements()};
  access[place(Axis::r)] = access[place(Axis::s)] = {};
  return access;
}

LstmForward::LstmForward(const Lstm& lstm, const LstmSteps& steps, bool keeps_gates,
                         const Conditions& conditions, KernelCache& kernels)
    : lstm_(lstm),
      is_fused_(steps.is_fused()),
      keeps_gates_(keeps_gates),
      threads_(conditions.threads),
      w_(weights_of(lstm, lstm.c, inputs_step(steps))),
      r_(weights_of(lstm, lstm.k, *steps.cell)),
      cell_(lstm_cell(conditions.isa)),
      gates_(lstm_gate_access(lstm)),
      states_(lstm_state_access(lstm, Axis::k)),
      inputs_(with_weights(
                  lstm_contraction(lstm, is_fused_ ? LstmProduct::input : LstmProduct::inputs), w_),
              with_sum(inputs_step(steps), Axis::c), {.bias = true}, conditions, kernels),
      state_(with_weights(lstm_contraction(lstm, LstmProduct::state), r_),
             with_sum(*steps.cell, Axis::h), {.adds = true}, conditions, kernels) {}

std::int64_t LstmForward::gate_elements() const {
  const bool of_one_step = is_fused_ && !keeps_gates_;
  return saturating_product(of_one_step ? 1 : lstm_.t,
                            saturating_product(4, saturating_product(lstm_.n, lstm_.k)));
}

std::int64_t LstmForward::scratch_addresses() const {
  return std::max(inputs_.table().longest_batch(), state_.table().longest_batch());
}

std::vector<const CallTable*> LstmForward::tables() const {
  return {&inputs_.table(), &state_.table()};
}

void LstmForward::run(const Operands& operands, float* gates, BatchAddress* scratch,
                      PartTimes* times) const noexcept {
  const std::int64_t scratch_each = scratch_addresses();
#pragma omp parallel num_threads(threads_)
  {
    const OwnNumbers own(threads_);
    if (!is_fused_) {
      own.each([&](int number) {
        timed(times, number, LstmPart::inputs, [&] {
          inputs_.run(number, {operands.x, operands.w, gates, operands.b},
                      scratch + number * scratch_each);
        });
      });
#pragma omp barrier
    }
    for (std::int64_t t = 0; t < lstm_.t; ++t) {
      own.each([&](int number) {
        cell(number, t, operands, gates, scratch + number * scratch_each, times);
      });
#pragma omp barrier
    }
  }
}

/// One time step: the products that are left, tile by tile, and the element-wise part of a tile as
/// soon as its last gate's sum is complete.
void LstmForward::cell(int number, std::int64_t t, const Operands& operands, float* gates,
                       BatchAddress* scratch, PartTimes* times) const noexcept {
  const std::int64_t state = lstm_.n * lstm_.k;
  const bool one_step_of_gates = is_fused_ && !keeps_gates_;
  float* const sums = gates + (one_step_of_gates ? 0 : t) * gates_[place(Axis::t)].inner;
  const float* const x = operands.x + t * lstm_.n * lstm_.c;
  const float* const h_before = t == 0 ? operands.h0 : operands.h + (t - 1) * state;
  const float* const c_before = t == 0 ? operands.c0 : operands.c + (t - 1) * state;
  Ranges ranges = state_.whole();
  ranges[place(Axis::c)] = {0, lstm_.c};
  state_.rounds().visit(number, ranges, [&] {
    if (is_fused_) {
      timed(times, number, LstmPart::inputs, [&] {
        inputs_.call(ranges, {x, operands.w, sums, operands.b}, scratch);
      });
    }
    timed(times, number, LstmPart::states, [&] {
      state_.call(ranges, {h_before, operands.r, sums, nullptr}, scratch, true);
    });
    if (ranges[place(Axis::g)].end < 4 || !state_.finishes(ranges)) return;
    const Range& rows = ranges[place(Axis::n)];
    const Range& cols = ranges[place(Axis::k)];
    const std::int64_t at =
        states_[place(Axis::n)].offset(rows.begin) + states_[place(Axis::k)].offset(cols.begin);
    timed(times, number, LstmPart::elementwise, [&] {
      cell_.forward({.rows = rows.size(),
                     .cols = cols.size(),
                     .sums = sums + gates_[place(Axis::n)].offset(rows.begin) +
                             gates_[place(Axis::k)].offset(cols.begin),
                     .gate_stride = gates_[place(Axis::g)].inner,
                     .gate_row_stride = gates_[place(Axis::n)].inner,
                     .c_before = c_before + at,
                     .c = operands.c + t * state + at,
                     .h = operands.h + t * state + at,
                     .state_row_stride = states_[place(Axis::n)].inner});
    });
  });
}

}  // namespace loopbrick
