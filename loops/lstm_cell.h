#pragma once
#include <cstdint>

#include "kernels/isa.h"

namespace loopbrick {

/// A tile of the element-wise part of one forward time step: gates in place of their sums, then c
/// and h.
struct LstmCellForward {
  std::int64_t rows = 0, cols = 0;
  float* sums = nullptr;  ///< of gate i; the others follow at gate_stride
  std::int64_t gate_stride = 0, gate_row_stride = 0;
  const float* c_before = nullptr;
  float* c = nullptr;
  float* h = nullptr;
  std::int64_t state_row_stride = 0;
};

/// A tile of the element-wise part of one backward time step.
struct LstmCellBackward {
  std::int64_t rows = 0, cols = 0;
  const float* gates = nullptr;
  float* dz = nullptr;
  std::int64_t gate_stride = 0, gate_row_stride = 0;
  const float* c_before = nullptr;
  const float* c = nullptr;
  const float* dh = nullptr;
  const float* dh_later = nullptr;  ///< what the later step passes back; null: there is none
  const float* dc_later = nullptr;
  float* dc = nullptr;  ///< of c_before; may be dc_later
  std::int64_t state_row_stride = 0;
  float* db = nullptr;  ///< sums of the columns of dz are added; gates at db_gate_stride
  std::int64_t db_gate_stride = 0;
};

/// The element-wise parts of an LSTM by the instructions of one ISA.
///
/// Errors   absolutely 2^-22 a function. Threads  tiles that do not overlap may run at once.
struct LstmCell {
  void (*forward)(const LstmCellForward&) noexcept = nullptr;
  void (*backward)(const LstmCellBackward&) noexcept = nullptr;
};
LstmCell lstm_cell(Isa isa);

}  // namespace loopbrick
