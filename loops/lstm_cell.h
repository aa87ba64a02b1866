#pragma once
#include <cstdint>

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
void run(const LstmCellForward& cell) noexcept;

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
void run(const LstmCellBackward& cell) noexcept;

}  // namespace loopbrick
