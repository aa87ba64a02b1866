#include "problems/lstm_reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "problems/reference_tile.h"

namespace loopbrick {
namespace {

using Doubles = std::vector<double>;

constexpr std::int64_t kGates = 4;
enum Gate : std::int64_t { kInput, kCandidate, kForget, kOutput };

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// A matrix as a factor: element (row, d) lies at data[row * row_stride + d * depth_stride].
template <typename T>
struct Factor {
  const T* data = nullptr;
  std::int64_t row_stride = 0, depth_stride = 0;
};

/// out[row * out_stride + col] += sum over d of a(row, d) * b(d, col), b(d, col) at
/// b[d * b_depth_stride + col * b_col_stride].
template <typename T>
struct Term {
  Factor<T> a;
  const float* b = nullptr;
  std::int64_t b_depth_stride = 0, b_col_stride = 0;
  std::int64_t rows = 0, cols = 0, depth = 0;
};

/// `term` and `store` must outlive the product.
template <typename T, typename Store>
SlowProduct product_of(const Term<T>& term, const Store& store) {
  const auto copy = [&term](std::int64_t, std::int64_t row, std::int64_t first, std::int64_t count,
                            double* piece) {
    const std::int64_t rows = std::min(kTileRows, term.rows - row);
    for (std::int64_t d = first; d < first + count; ++d, piece += kTileRows) {
      const T* const from = term.a.data + row * term.a.row_stride + d * term.a.depth_stride;
      for (std::int64_t i = 0; i < rows; ++i)
        piece[i] = static_cast<double>(from[i * term.a.row_stride]);
    }
  };
  return {.rows = term.rows,
          .cols = term.cols,
          .depth = term.depth,
          .b = term.b,
          .b_depth_stride = term.b_depth_stride,
          .b_col_stride = term.b_col_stride,
          .a = copy,
          .store = [&store](std::int64_t, std::int64_t row, std::int64_t col, double sum) {
            store(row, col, sum);
          }};
}

/// Packs B into `packed` unless it is there already.
template <typename T, typename Store>
void multiply(const Term<T>& term, PackedB& packed, int threads, const Store& store) {
  const SlowProduct product = product_of(term, store);
  if (!packed) packed = pack_b(product, threads);
  run(product, packed, threads);
}

template <typename T, typename Store>
void multiply(const Term<T>& term, int threads, const Store& store) {
  run(product_of(term, store), threads);
}

/// The layer's inputs, by the names that operands gives them.
struct Inputs {
  const float *x, *h0, *c0, *w, *r, *b;
};

Inputs inputs_of(const Arrays& arrays) {
  return {arrays[0].data(), arrays[1].data(), arrays[2].data(),
          arrays[3].data(), arrays[4].data(), arrays[5].data()};
}

/// What the forward pass leaves: h and c of steps 0 (the initial state) to t, and the gates as
/// [t][n][4][k].
struct States {
  Doubles h, c, gates;
};

class Layer {
 public:
  Layer(const Lstm& lstm, const Inputs& inputs, int threads)
      : lstm_(lstm), inputs_(inputs), threads_(threads), state_(lstm.n * lstm.k) {}

  States forward() const {
    States states{.h = Doubles(at((lstm_.t + 1) * state_)),
                  .c = Doubles(at((lstm_.t + 1) * state_)),
                  .gates = Doubles(at(lstm_.t * kGates * state_))};
    std::copy(inputs_.h0, inputs_.h0 + state_, states.h.begin());
    std::copy(inputs_.c0, inputs_.c0 + state_, states.c.begin());
    sum_inputs(states.gates.data());
    PackedB packed;
    for (std::int64_t t = 0; t < lstm_.t; ++t) {
      double* const gates = states.gates.data() + t * kGates * state_;
      add_states(states.h.data() + t * state_, packed, gates);
      finish_step(gates, states.c.data() + t * state_, states.h.data() + (t + 1) * state_);
    }
    return states;
  }

  void backward(const Arrays& arrays) const {
    States states = forward();
    const float* const dh = arrays[6].data();
    Doubles dh_state(at(state_), 0.0);  // what the later steps pass back
    Doubles dc_state(arrays[7].begin(), arrays[7].end());
    PackedB packed;
    for (std::int64_t t = lstm_.t - 1; t >= 0; --t) {
      double* const gates = states.gates.data() + t * kGates * state_;
      differentiate_step(gates, states.c.data() + t * state_, dh + t * state_, dh_state, dc_state);
      multiply(Term<double>{.a = {gates, kGates * lstm_.k, 1},
                            .b = inputs_.r,
                            .b_depth_stride = lstm_.k,
                            .b_col_stride = 1,
                            .rows = lstm_.n,
                            .cols = lstm_.k,
                            .depth = kGates * lstm_.k},
               packed, threads_, [&](std::int64_t row, std::int64_t col, double sum) {
                 dh_state[at(row * lstm_.k + col)] = sum;
               });
    }
    std::copy(dh_state.begin(), dh_state.end(), arrays[9].begin());
    std::copy(dc_state.begin(), dc_state.end(), arrays[10].begin());
    differentiate_inputs(states, arrays);
  }

 private:
  /// gates[t][n][4][k] = W x + b, of all time steps.
  void sum_inputs(double* gates) const {
    const std::int64_t cols = kGates * lstm_.k;
    multiply(Term<float>{.a = {inputs_.x, lstm_.c, 1},
                         .b = inputs_.w,
                         .b_depth_stride = 1,
                         .b_col_stride = lstm_.c,
                         .rows = lstm_.t * lstm_.n,
                         .cols = cols,
                         .depth = lstm_.c},
             threads_, [&](std::int64_t row, std::int64_t col, double sum) {
               gates[row * cols + col] = sum + static_cast<double>(inputs_.b[col]);
             });
  }

  /// gates[n][4][k] += R h, of one time step.
  void add_states(const double* h, PackedB& packed, double* gates) const {
    const std::int64_t cols = kGates * lstm_.k;
    multiply(Term<double>{.a = {h, lstm_.k, 1},
                          .b = inputs_.r,
                          .b_depth_stride = 1,
                          .b_col_stride = lstm_.k,
                          .rows = lstm_.n,
                          .cols = cols,
                          .depth = lstm_.k},
             packed, threads_, [&](std::int64_t row, std::int64_t col, double sum) {
               gates[row * cols + col] += sum;
             });
  }

  /// Sums become gates; the next cell state lies behind the one at `c`.
  void finish_step(double* gates, double* c, double* h) const {
#pragma omp parallel for num_threads(threads_)
    for (std::int64_t i = 0; i < state_; ++i) {
      double* const gate = gates + i / lstm_.k * kGates * lstm_.k + i % lstm_.k;
      for (const Gate each : {kInput, kForget, kOutput})
        gate[each * lstm_.k] = sigmoid(gate[each * lstm_.k]);
      gate[kCandidate * lstm_.k] = std::tanh(gate[kCandidate * lstm_.k]);
      c[state_ + i] = gate[kForget * lstm_.k] * c[i] + gate[0] * gate[kCandidate * lstm_.k];
      h[i] = gate[kOutput * lstm_.k] * std::tanh(c[state_ + i]);
    }
  }

  /// Gates become the gradients of their sums; dc_state that of the cell state before the step.
  void differentiate_step(double* gates, const double* c, const float* dh, const Doubles& dh_state,
                          Doubles& dc_state) const {
#pragma omp parallel for num_threads(threads_)
    for (std::int64_t i = 0; i < state_; ++i) {
      double* const gate = gates + i / lstm_.k * kGates * lstm_.k + i % lstm_.k;
      const double in = gate[0], candidate = gate[kCandidate * lstm_.k],
                   forget = gate[kForget * lstm_.k], out = gate[kOutput * lstm_.k];
      const double bent = std::tanh(c[state_ + i]);
      const double d_h = static_cast<double>(dh[i]) + dh_state[at(i)];
      const double d_c = dc_state[at(i)] + d_h * out * (1.0 - bent * bent);
      gate[0] = d_c * candidate * in * (1.0 - in);
      gate[kCandidate * lstm_.k] = d_c * in * (1.0 - candidate * candidate);
      gate[kForget * lstm_.k] = d_c * c[i] * forget * (1.0 - forget);
      gate[kOutput * lstm_.k] = d_h * bent * out * (1.0 - out);
      dc_state[at(i)] = d_c * forget;
    }
  }

  /// dx, dw, dr and db from the gradients of all gates' sums.
  void differentiate_inputs(const States& states, const Arrays& arrays) const {
    const double* const dz = states.gates.data();
    const std::int64_t sums = kGates * lstm_.k, entries = lstm_.t * lstm_.n;
    const auto keep_in = [](std::span<float> to, std::int64_t cols) {
      return [to, cols](std::int64_t row, std::int64_t col, double sum) {
        to[at(row * cols + col)] = static_cast<float>(sum);
      };
    };
    multiply(Term<double>{.a = {dz, sums, 1},
                          .b = inputs_.w,
                          .b_depth_stride = lstm_.c,
                          .b_col_stride = 1,
                          .rows = entries,
                          .cols = lstm_.c,
                          .depth = sums},
             threads_, keep_in(arrays[8], lstm_.c));
    Term<double> by_weights{.a = {dz, 1, sums},
                            .b = inputs_.x,
                            .b_depth_stride = lstm_.c,
                            .b_col_stride = 1,
                            .rows = sums,
                            .cols = lstm_.c,
                            .depth = entries};
    multiply(by_weights, threads_, keep_in(arrays[11], lstm_.c));
    const std::vector<float> h(states.h.begin(), states.h.end() - state_);
    by_weights.b = h.data();
    by_weights.b_depth_stride = by_weights.cols = lstm_.k;
    multiply(by_weights, threads_, keep_in(arrays[12], lstm_.k));
    Doubles columns(at(sums), 0.0);
    for (std::int64_t entry = 0; entry < entries; ++entry) {
      for (std::int64_t i = 0; i < sums; ++i) columns[at(i)] += dz[entry * sums + i];
    }
    std::copy(columns.begin(), columns.end(), arrays[13].begin());
  }

  const Lstm& lstm_;
  Inputs inputs_;
  int threads_;
  std::int64_t state_;
};

}  // namespace

void lstm_reference(const Problem& problem, const Arrays& arrays, int threads) {
  const auto& lstm = std::get<Lstm>(problem.shape);
  const Layer layer(lstm, inputs_of(arrays), threads);
  if (problem.pass == Pass::bwd) return layer.backward(arrays);
  const States states = layer.forward();
  const auto state = static_cast<std::ptrdiff_t>(lstm.n * lstm.k);
  std::copy(states.h.begin() + state, states.h.end(), arrays[6].begin());
  std::copy(states.c.begin() + state, states.c.end(), arrays[7].begin());
}

float lstm_weight_scale(const Lstm& lstm, Fill kind) {
  const double length = static_cast<double>(lstm.c) + static_cast<double>(lstm.k);
  if (kind == Fill::denormal) return 1.0F;
  const double exponent = std::ceil(std::log2(length) * (kind == Fill::ones ? 1.0 : 0.5));
  return static_cast<float>(std::exp2(-exponent));
}

double lstm_tolerance(const Problem& problem, Fill kind, std::string_view output) {
  if (kind == Fill::denormal) return static_cast<double>(std::numeric_limits<float>::min());
  const auto& lstm = std::get<Lstm>(problem.shape);
  constexpr std::array<std::string_view, 3> kWeights{"dw", "dr", "db"};
  const bool is_weight = std::ranges::find(kWeights, output) != kWeights.end();
  const std::int64_t length = problem.pass == Pass::bwd ? kGates * lstm.k : lstm.c + lstm.k;
  const auto products = static_cast<double>(is_weight ? lstm.t * lstm.n : length);
  if (kind == Fill::ones) return (products * (is_weight ? products / 4.0 : 1.0) + 128.0) * 0x1p-24;
  const double by_hidden = 1.0 + std::sqrt(static_cast<double>(lstm.k)) / 16.0;
  const double roundings = is_weight ? products * by_hidden : 4.0 * std::sqrt(products);
  return (roundings + 64.0) * (kind == Fill::integers ? 4.0 : 1.0) * 0x1p-24;
}

}  // namespace loopbrick
