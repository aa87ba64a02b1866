#include "loops/lstm_cell.h"

#include <algorithm>
#include <bit>

namespace loopbrick {

namespace {

/// e^x with a relative error below 2^-22; arguments beyond the range of float are cut to it.
///
/// Source  Cephes, expf: 2^n e^r with |r| <= ln 2 / 2 and ln 2 in two parts.
[[gnu::always_inline]] inline float exponential(float x) {
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it rounds to a whole number
  const float cut = std::min(std::max(x, -87.0F), 88.0F);
  const float shifted = cut * 1.44269504F + kRound;
  const float whole = shifted - kRound;
  const float r = (cut - whole * 0.693359375F) + whole * 2.12194440e-4F;
  float sum = 1.9875691500e-4F;
  sum = sum * r + 1.3981999507e-3F;
  sum = sum * r + 8.3334519073e-3F;
  sum = sum * r + 4.1665795894e-2F;
  sum = sum * r + 1.6666665459e-1F;
  sum = sum * r + 5.0000001201e-1F;
  const std::int32_t power = std::bit_cast<std::int32_t>(shifted)
                             << 23;  // n in the exponent's bits
  return std::bit_cast<float>(std::bit_cast<std::int32_t>(1.0F) + power) * (sum * r * r + r + 1.0F);
}

[[gnu::always_inline]] inline float sigmoid(float x) { return 1.0F / (1.0F + exponential(-x)); }

/// Exact to 2^-22, absolutely.
[[gnu::always_inline]] inline float hyperbolic_tangent(float x) {
  return 1.0F - 2.0F / (1.0F + exponential(2.0F * x));
}

/// One row; gates may be where their sums were.
__attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4"))) void forward_row(
    const LstmCellForward& cell, float* sums, const float* c_before, float* c, float* h) {
  float* const in = sums;
  float* const candidate = sums + cell.gate_stride;
  float* const forget = sums + 2 * cell.gate_stride;
  float* const out = sums + 3 * cell.gate_stride;
#pragma omp simd
  for (std::int64_t i = 0; i < cell.cols; ++i) {
    const float in_gate = sigmoid(in[i]);
    const float new_value = hyperbolic_tangent(candidate[i]);
    const float forget_gate = sigmoid(forget[i]);
    const float out_gate = sigmoid(out[i]);
    const float state = forget_gate * c_before[i] + in_gate * new_value;
    c[i] = state;
    h[i] = out_gate * hyperbolic_tangent(state);
    in[i] = in_gate;
    candidate[i] = new_value;
    forget[i] = forget_gate;
    out[i] = out_gate;
  }
}

__attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4"))) void backward_row(
    const LstmCellBackward& cell, std::int64_t gate, std::int64_t at) {
  const float* const in = cell.gates + gate;
  const float* const candidate = in + cell.gate_stride;
  const float* const forget = in + 2 * cell.gate_stride;
  const float* const out = in + 3 * cell.gate_stride;
  float* const dz = cell.dz + gate;
  const float* const c_before = cell.c_before + at;
  const float* const c = cell.c + at;
  const float* const dh = cell.dh + at;
  const float* const later = cell.dh_later == nullptr ? nullptr : cell.dh_later + at;
  const float* const dc_later = cell.dc_later + at;
  float* const dc = cell.dc + at;
  float* const db = cell.db;
  const std::int64_t stride = cell.gate_stride, db_stride = cell.db_gate_stride;
#pragma omp simd
  for (std::int64_t i = 0; i < cell.cols; ++i) {
    const float bent = hyperbolic_tangent(c[i]);
    const float d_h = dh[i] + (later == nullptr ? 0.0F : later[i]);
    const float d_c = dc_later[i] + d_h * out[i] * (1.0F - bent * bent);
    const float d_in = d_c * candidate[i] * in[i] * (1.0F - in[i]);
    const float d_candidate = d_c * in[i] * (1.0F - candidate[i] * candidate[i]);
    const float d_forget = d_c * c_before[i] * forget[i] * (1.0F - forget[i]);
    const float d_out = d_h * bent * out[i] * (1.0F - out[i]);
    dz[i] = d_in;
    dz[stride + i] = d_candidate;
    dz[2 * stride + i] = d_forget;
    dz[3 * stride + i] = d_out;
    db[i] += d_in;
    db[db_stride + i] += d_candidate;
    db[2 * db_stride + i] += d_forget;
    db[3 * db_stride + i] += d_out;
    dc[i] = d_c * forget[i];
  }
}

}  // namespace

void run(const LstmCellForward& cell) noexcept {
  for (std::int64_t row = 0; row < cell.rows; ++row) {
    const std::int64_t at = row * cell.state_row_stride;
    forward_row(cell, cell.sums + row * cell.gate_row_stride, cell.c_before + at, cell.c + at,
                cell.h + at);
  }
}

void run(const LstmCellBackward& cell) noexcept {
  for (std::int64_t row = 0; row < cell.rows; ++row)
    backward_row(cell, row * cell.gate_row_stride, row * cell.state_row_stride);
}

}  // namespace loopbrick
