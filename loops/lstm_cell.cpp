#include "loops/lstm_cell.h"

#include "loops/vector_functions.h"

namespace loopbrick {

namespace {

[[gnu::always_inline]] inline void forward_tile(const LstmCellForward& cell) {
  for (std::int64_t row = 0; row < cell.rows; ++row) {
    float* const in = cell.sums + row * cell.gate_row_stride;
    float* const candidate = in + cell.gate_stride;
    float* const forget = in + 2 * cell.gate_stride;
    float* const out = in + 3 * cell.gate_stride;
    const float* const c_before = cell.c_before + row * cell.state_row_stride;
    float* const c = cell.c + row * cell.state_row_stride;
    float* const h = cell.h + row * cell.state_row_stride;
#pragma omp simd
    for (std::int64_t i = 0; i < cell.cols; ++i) {
      in[i] = sigmoid(in[i]);
      candidate[i] = hyperbolic_tangent(candidate[i]);
      forget[i] = sigmoid(forget[i]);
      out[i] = sigmoid(out[i]);
      const float state = forget[i] * c_before[i] + in[i] * candidate[i];
      c[i] = state;
      h[i] = out[i] * hyperbolic_tangent(state);
    }
  }
}

[[gnu::always_inline]] inline void backward_tile(const LstmCellBackward& cell) {
  const std::int64_t stride = cell.gate_stride, db_stride = cell.db_gate_stride;
  const float* const later = cell.dh_later;
  for (std::int64_t row = 0; row < cell.rows; ++row) {
    const std::int64_t at = row * cell.state_row_stride;
    const float* const in = cell.gates + row * cell.gate_row_stride;
    const float* const candidate = in + stride;
    const float* const forget = in + 2 * stride;
    const float* const out = in + 3 * stride;
    float* const dz = cell.dz + row * cell.gate_row_stride;
#pragma omp simd
    for (std::int64_t i = 0; i < cell.cols; ++i) {
      const float bent = hyperbolic_tangent(cell.c[at + i]);
      const float d_h = cell.dh[at + i] + (later == nullptr ? 0.0F : later[at + i]);
      const float d_c = cell.dc_later[at + i] + d_h * out[i] * (1.0F - bent * bent);
      const float d_in = d_c * candidate[i] * in[i] * (1.0F - in[i]);
      const float d_candidate = d_c * in[i] * (1.0F - candidate[i] * candidate[i]);
      const float d_forget = d_c * cell.c_before[at + i] * forget[i] * (1.0F - forget[i]);
      const float d_out = d_h * bent * out[i] * (1.0F - out[i]);
      cell.dc[at + i] = d_c * forget[i];
      dz[i] = d_in;
      dz[stride + i] = d_candidate;
      dz[2 * stride + i] = d_forget;
      dz[3 * stride + i] = d_out;
      cell.db[i] += d_in;
      cell.db[db_stride + i] += d_candidate;
      cell.db[2 * db_stride + i] += d_forget;
      cell.db[3 * db_stride + i] += d_out;
    }
  }
}

void forward_plain(const LstmCellForward& cell) noexcept { forward_tile(cell); }
void backward_plain(const LstmCellBackward& cell) noexcept { backward_tile(cell); }

[[gnu::target("arch=x86-64-v3")]] void forward_avx2(const LstmCellForward& cell) noexcept {
  forward_tile(cell);
}
[[gnu::target("arch=x86-64-v3")]] void backward_avx2(const LstmCellBackward& cell) noexcept {
  backward_tile(cell);
}

[[gnu::target("arch=x86-64-v4,prefer-vector-width=512")]] void forward_avx512(
    const LstmCellForward& cell) noexcept {
  forward_tile(cell);
}
[[gnu::target("arch=x86-64-v4,prefer-vector-width=512")]] void backward_avx512(
    const LstmCellBackward& cell) noexcept {
  backward_tile(cell);
}

}  // namespace

LstmCell lstm_cell(Isa isa) {
  switch (isa) {
    case Isa::ref:
      return {forward_plain, backward_plain};
    case Isa::avx2:
      return {forward_avx2, backward_avx2};
    case Isa::avx512:
      return {forward_avx512, backward_avx512};
  }
  return {forward_plain, backward_plain};
}

}  // namespace loopbrick
