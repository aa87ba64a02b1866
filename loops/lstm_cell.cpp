#include "loops/lstm_cell.h"

#include <cmath>

namespace loopbrick {

namespace {
float sigmoid(float x) { return 1.0F / (1.0F + std::exp(-x)); }
}  // namespace

void run(const LstmCellForward& cell) noexcept {
  for (std::int64_t row = 0; row < cell.rows; ++row) {
    float* const z = cell.sums + row * cell.gate_row_stride;
    const std::int64_t at = row * cell.state_row_stride;
    for (std::int64_t col = 0; col < cell.cols; ++col) {
      float* const gate = z + col;
      const float in = sigmoid(gate[0]);
      const float candidate = std::tanh(gate[cell.gate_stride]);
      const float forget = sigmoid(gate[2 * cell.gate_stride]);
      const float out = sigmoid(gate[3 * cell.gate_stride]);
      const float c = forget * cell.c_before[at + col] + in * candidate;
      cell.c[at + col] = c;
      cell.h[at + col] = out * std::tanh(c);
      if (!cell.keeps_gates) continue;
      gate[0] = in;
      gate[cell.gate_stride] = candidate;
      gate[2 * cell.gate_stride] = forget;
      gate[3 * cell.gate_stride] = out;
    }
  }
}

void run(const LstmCellBackward& cell) noexcept {
  for (std::int64_t row = 0; row < cell.rows; ++row) {
    const std::int64_t at = row * cell.state_row_stride;
    for (std::int64_t col = 0; col < cell.cols; ++col) {
      const std::int64_t first = row * cell.gate_row_stride + col;
      const float in = cell.gates[first];
      const float candidate = cell.gates[first + cell.gate_stride];
      const float forget = cell.gates[first + 2 * cell.gate_stride];
      const float out = cell.gates[first + 3 * cell.gate_stride];
      const float bent = std::tanh(cell.c[at + col]);
      const float later = cell.dh_later == nullptr ? 0.0F : cell.dh_later[at + col];
      const float dh = cell.dh[at + col] + later;
      const float dc = cell.dc_later[at + col] + dh * out * (1.0F - bent * bent);
      const float dz[4] = {
          dc * candidate * in * (1.0F - in), dc * in * (1.0F - candidate * candidate),
          dc * cell.c_before[at + col] * forget * (1.0F - forget), dh * bent * out * (1.0F - out)};
      for (std::int64_t g = 0; g < 4; ++g) {
        cell.dz[first + g * cell.gate_stride] = dz[g];
        cell.db[g * cell.db_gate_stride + col] += dz[g];
      }
      cell.dc[at + col] = dc * forget;
    }
  }
}

}  // namespace loopbrick
