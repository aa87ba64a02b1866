#pragma once
#include <cstdint>

namespace loopbrick {

/// The element-wise part of one step of an LSTM: gates [n][4][k] in the order i, c, f, o without
/// bias, bias [4][k], the last cell state, the new one and the hidden state [n][k].
///
/// Threads  uses `threads` OpenMP threads.
void apply_lstm_gates(std::int64_t n, std::int64_t k, const float* gates, const float* bias,
                      const float* last_c, float* c, float* h, int threads);

}  // namespace loopbrick
