#include "loops/lstm_backward.h"

#include <algorithm>

#include "kernels/text.h"
#include "loops/own_numbers.h"
#include "loops/step_facts.h"

namespace loopbrick {

namespace {

constexpr std::int64_t kLine = 16;  ///< floats of a cache line

std::int64_t in_lines(std::int64_t floats) {
  return saturating_product(saturating_sum(floats, kLine - 1) / kLine, kLine);
}

}  // namespace

LstmBackward::Transposed::Transposed(const Contraction& user, const Step& step) {
  const std::int64_t k = user.extent(Axis::k), features = user.extent(user.columns);
  gate.from = {.k = k, .c = features, .tile = channel_block(Layout::blocked, k), .depth = features};
  gate.to = {.k = features, .c = k, .tile = tile_columns(user, step), .depth = k};
}

std::int64_t LstmBackward::Transposed::panels() const {
  return 4 * ((gate.to.k + gate.to.tile - 1) / gate.to.tile);
}

std::int64_t LstmBackward::Transposed::elements() const {
  return saturating_product(4, gate.to.elements());
}

Contraction LstmBackward::Transposed::used_by(Contraction to) const {
  const Access access = gate.access();
  to.b[place(to.columns)] = access[place(Axis::c)];
  to.b[place(Axis::k)] = access[place(Axis::k)];
  to.b[place(Axis::g)] = {.inner = gate.to.elements()};
  return to;
}

/// The columns of one tile, of one gate.
void LstmBackward::Transposed::run(std::int64_t panel, const float* forward,
                                   float* own) const noexcept {
  const std::int64_t tiles = panels() / 4;
  const std::int64_t g = panel / tiles;
  const std::int64_t begin = panel % tiles * gate.to.tile;
  const Range columns{begin, std::min(begin + gate.to.tile, gate.to.k)};
  gate.run(forward + g * gate.from.elements(), {0, gate.from.k}, columns,
           own + g * gate.to.elements() + gate.access()[place(Axis::c)].offset(begin));
}

LstmBackward::LstmBackward(const Lstm& lstm, const LstmSteps& steps, const Conditions& conditions,
                           KernelCache& kernels)
    : lstm_(lstm),
      in_time_(steps.gradients_in_time),
      threads_(conditions.threads),
      cell_(lstm_cell(conditions.isa)),
      gates_(lstm_gate_access(lstm)),
      states_(lstm_state_access(lstm, Axis::k)),
      w_(lstm_contraction(lstm_of_gradients(lstm, steps), LstmProduct::dx), *steps.dx),
      r_(lstm_contraction(lstm, LstmProduct::dh), *steps.dh),
      elementwise_(*steps.elementwise, conditions.threads),
      dh_(r_.used_by(lstm_contraction(lstm, LstmProduct::dh)), *steps.dh, {}, conditions, kernels),
      dx_(w_.used_by(lstm_contraction(lstm_of_gradients(lstm, steps), LstmProduct::dx)), *steps.dx,
          {}, conditions, kernels),
      dw_(lstm_contraction(lstm_of_gradients(lstm, steps), LstmProduct::dw), *steps.dw,
          {.adds = in_time_}, conditions, kernels),
      dr_(lstm_contraction(lstm_of_gradients(lstm, steps), LstmProduct::dr), *steps.dr,
          {.adds = in_time_}, conditions, kernels) {}

std::vector<const CallTable*> LstmBackward::tables() const {
  return {&dh_.table(), &dx_.table(), &dw_.table(), &dr_.table()};
}

std::int64_t LstmBackward::scratch_addresses() const {
  std::int64_t most = 0;
  for (const CallTable* table : tables()) most = std::max(most, table->longest_batch());
  return most;
}

LstmBackward::Workspace LstmBackward::divide(float* workspace) const {
  const std::int64_t state = in_lines(lstm_.n * lstm_.k);
  Workspace own{};
  own.dz = workspace;
  own.dh_later = own.dz + in_lines(4 * steps_of_dz() * lstm_.n * lstm_.k);
  own.w = own.dh_later + state;
  own.r = own.w + in_lines(w_.elements());
  own.db = own.r + in_lines(r_.elements());
  return own;
}

std::int64_t LstmBackward::workspace_floats() const {
  const std::int64_t state = saturating_product(lstm_.n, lstm_.k);
  std::int64_t sum = in_lines(saturating_product(saturating_product(4, steps_of_dz()), state));
  for (const std::int64_t part :
       {in_lines(state), in_lines(w_.elements()), in_lines(r_.elements()),
        saturating_product(threads_, in_lines(saturating_product(4, lstm_.k)))}) {
    sum = saturating_sum(sum, part);
  }
  return sum;
}

void LstmBackward::run(const Operands& operands, float* workspace, BatchAddress* scratch,
                       PartTimes* times) const noexcept {
  const Workspace own = divide(workspace);
  const std::int64_t addresses = scratch_addresses();
  const std::int64_t state = lstm_.n * lstm_.k;
#pragma omp parallel num_threads(threads_)
  {
    const OwnNumbers numbers(threads_);
    numbers.each([&](int number) {
      timed(times, number, LstmPart::transposition, [&] { transpose(number, operands, own); });
    });
    for (std::int64_t t = lstm_.t - 1; t >= 0; --t) {
      numbers.each([&](int number) {
        timed(times, number, LstmPart::elementwise, [&] { elementwise(number, t, operands, own); });
      });
#pragma omp barrier
      float* const dh = t == 0 ? operands.dh0 : own.dh_later;
      const float* const dz = own.dz + (in_time_ ? 0 : t * 4 * state);
      numbers.each([&](int number) {
        BatchAddress* const own_scratch = scratch + number * addresses;
        timed(times, number, LstmPart::dh, [&] {
          dh_.run(number, {dz, own.r, dh, nullptr}, own_scratch);
        });
        if (in_time_) gradients(number, t, t + 1 < lstm_.t, operands, own, own_scratch, times);
      });
#pragma omp barrier
    }
    numbers.each([&](int number) {
      timed(times, number, LstmPart::elementwise,
            [&] { add_bias_gradients(number, own, operands.db); });
      if (!in_time_)
        gradients(number, 0, false, operands, own, scratch + number * addresses, times);
    });
  }
}

/// This thread's part of dx, dw and dr: of time step t, added to what the later ones left, or of
/// all steps from t = 0 on.
void LstmBackward::gradients(int number, std::int64_t t, bool adds, const Operands& operands,
                             const Workspace& own, BatchAddress* scratch,
                             PartTimes* times) const noexcept {
  const std::int64_t inputs = t * lstm_.n * lstm_.c;
  const std::int64_t states = t * lstm_.n * lstm_.k;
  timed(times, number, LstmPart::dx, [&] {
    dx_.run(number, {own.dz, own.w, operands.dx + inputs, nullptr}, scratch);
  });
  timed(times, number, LstmPart::dw, [&] {
    dw_.run(number, {operands.x + inputs, own.dz, operands.dw, nullptr}, scratch, adds);
  });
  timed(times, number, LstmPart::dr, [&] {
    dr_.run(number, {operands.h + states, own.dz, operands.dr, nullptr}, scratch, adds);
  });
}

/// This thread's share of the panels of w' and r', and zeros for its sums of db.
void LstmBackward::transpose(int number, const Operands& operands,
                             const Workspace& own) const noexcept {
  const auto share = [this, number](const Transposed& weights, const float* from, float* to) {
    const std::int64_t panels = weights.panels();
    const std::int64_t end = panels * (number + 1) / threads_;
    for (std::int64_t i = panels * number / threads_; i < end; ++i) weights.run(i, from, to);
  };
  share(w_, operands.w, own.w);
  share(r_, operands.r, own.r);
  const std::int64_t sums = in_lines(4 * lstm_.k);
  std::fill_n(own.db + number * sums, sums, 0.0F);
}

void LstmBackward::elementwise(int number, std::int64_t t, const Operands& operands,
                               const Workspace& own) const noexcept {
  const std::int64_t state = lstm_.n * lstm_.k;
  const bool is_last = t + 1 == lstm_.t;
  Ranges ranges{};
  ranges[place(Axis::n)] = {0, lstm_.n};
  ranges[place(Axis::k)] = {0, lstm_.k};
  elementwise_.visit(number, ranges, [&] {
    const Range& rows = ranges[place(Axis::n)];
    const Range& cols = ranges[place(Axis::k)];
    const std::int64_t at =
        states_[place(Axis::n)].offset(rows.begin) + states_[place(Axis::k)].offset(cols.begin);
    const std::int64_t step = gates_[place(Axis::t)].offset(t);
    const std::int64_t gate =
        gates_[place(Axis::n)].offset(rows.begin) + gates_[place(Axis::k)].offset(cols.begin);
    cell_.backward({.rows = rows.size(),
                    .cols = cols.size(),
                    .gates = operands.gates + step + gate,
                    .dz = own.dz + (in_time_ ? 0 : step) + gate,
                    .gate_stride = gates_[place(Axis::g)].inner,
                    .gate_row_stride = gates_[place(Axis::n)].inner,
                    .c_before = operands.c + t * state + at,
                    .c = operands.c + (t + 1) * state + at,
                    .dh = operands.dh + t * state + at,
                    .dh_later = is_last ? nullptr : own.dh_later + at,
                    .dc_later = (is_last ? operands.dc : operands.dc0) + at,
                    .dc = operands.dc0 + at,
                    .state_row_stride = states_[place(Axis::n)].inner,
                    .db = own.db + number * in_lines(4 * lstm_.k) + cols.begin,
                    .db_gate_stride = lstm_.k});
  });
}

/// This thread's share of db: the sums of all threads, in their order.
void LstmBackward::add_bias_gradients(int number, const Workspace& own, float* db) const noexcept {
  const std::int64_t sums = 4 * lstm_.k;
  const std::int64_t end = sums * (number + 1) / threads_;
  for (std::int64_t i = sums * number / threads_; i < end; ++i) {
    float sum = 0.0F;
    for (std::int64_t thread = 0; thread < threads_; ++thread)
      sum += own.db[thread * in_lines(sums) + i];
    db[i] = sum;
  }
}

}  // namespace loopbrick
