#include "tuner/lstm_model.h"

#include <algorithm>
#include <initializer_list>

#include "problems/operands.h"

namespace loopbrick {

namespace {

// Cycles of a core for one vector of cells: five exponentials and as many divisions forward, one of
// each backward.
constexpr double kForwardCycles = 130.0;
constexpr double kBackwardCycles = 70.0;
constexpr double kLine = 64.0;

Schedule schedule_of(const Step& step) {
  Schedule schedule;
  schedule.steps.push_back(step);
  return schedule;
}

OperandBytes sum_of(const OperandBytes& left, const OperandBytes& right) {
  return {left.a + right.a, left.b + right.b, left.c + right.c};
}

}  // namespace

LstmModel::LstmModel(const Problem& problem, const Conditions& conditions, const Machine& machine,
                     const Limits& limits)
    : problem_(problem),
      lstm_(std::get<Lstm>(problem.shape)),
      conditions_(conditions),
      limits_(limits) {
  const auto bytes = static_cast<double>(total_bytes(problem));
  for (const LstmProduct product :
       {LstmProduct::inputs, LstmProduct::input, LstmProduct::state, LstmProduct::dh,
        LstmProduct::dx, LstmProduct::dw, LstmProduct::dr}) {
    models_.emplace_back(lstm_contraction(lstm_, product), bytes, conditions, machine, limits);
  }
  Lstm one = lstm_;
  one.t = 1;
  for (const LstmProduct product : {LstmProduct::dx, LstmProduct::dw, LstmProduct::dr}) {
    of_one_step_.emplace_back(lstm_contraction(one, product), bytes, conditions, machine, limits);
  }
}

/// One product, run `times` times; the fork that the model counts happens once for all of them.
void LstmModel::add(const Model& product, const Step& step, double times, Prediction& sum) const {
  const Prediction one = product.predict(schedule_of(step));
  const double fork = conditions_.threads > 1 ? limits_.fork_seconds : 0.0;
  sum.seconds += times * (one.seconds - fork);
  sum.compute += times * one.compute;
  sum.l2 += times * one.l2;
  sum.l3 += times * one.l3;
  sum.dram += times * one.dram;
  sum.overhead += times * (one.overhead - fork);
  sum.imbalance = std::max(sum.imbalance, one.imbalance);
  sum.l2_bytes = sum_of(sum.l2_bytes, one.l2_bytes.times(times));
  sum.l3_bytes = sum_of(sum.l3_bytes, one.l3_bytes.times(times));
  sum.dram_bytes = sum_of(sum.dram_bytes, one.dram_bytes.times(times));
  sum.calls += times * one.calls;
  sum.executed_flops += times * one.executed_flops;
}

/// Cells of all time steps, and backward the rewriting of w and r.
double LstmModel::elementwise_seconds() const {
  const double clock = limits_.clock_hz > 0.0 ? limits_.clock_hz : 1e9;
  const double hidden = static_cast<double>(lstm_.k);
  const double cells = static_cast<double>(lstm_.t) * static_cast<double>(lstm_.n) * hidden;
  const bool is_backward = problem_.pass == Pass::bwd;
  double cycles = cells / lanes(conditions_.isa) * (is_backward ? kBackwardCycles : kForwardCycles);
  if (is_backward) {
    const double weights = 4.0 * hidden * (static_cast<double>(lstm_.c) + hidden);
    cycles += 2.0 * 4.0 * weights / kLine * ModelRatios{}.copied_line_cycles;
  }
  return cycles / clock / conditions_.threads;
}

Prediction LstmModel::predict(const Schedule& schedule) const {
  const auto steps = std::get<LstmSteps>(lstm_steps(problem_.pass, schedule));
  const auto times = static_cast<double>(lstm_.t);
  Prediction sum;
  double barriers = times;
  if (steps.inputs) add(model(LstmProduct::inputs), *steps.inputs, 1.0, sum);
  if (steps.is_fused()) add(model(LstmProduct::input), with_sum(*steps.cell, Axis::c), times, sum);
  if (steps.cell) {
    add(model(LstmProduct::state), with_sum(*steps.cell, Axis::h), times, sum);
  } else {
    barriers *= 2.0;
    add(model(LstmProduct::dh), *steps.dh, times, sum);
    const bool in_time = steps.gradients_in_time;
    const double repeats = in_time ? times : 1.0;
    add(in_time ? of_one_step_[0] : model(LstmProduct::dx), *steps.dx, repeats, sum);
    add(in_time ? of_one_step_[1] : model(LstmProduct::dw), *steps.dw, repeats, sum);
    add(in_time ? of_one_step_[2] : model(LstmProduct::dr), *steps.dr, repeats, sum);
  }
  double overhead = elementwise_seconds();
  if (conditions_.threads > 1)
    overhead += limits_.fork_seconds + barriers * limits_.barrier_seconds;
  sum.overhead += overhead;
  sum.seconds += overhead;
  return sum;
}

}  // namespace loopbrick
