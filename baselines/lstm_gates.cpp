// Compiled with -ffast-math: that is how g++ takes the exponential from glibc's vector library.
#include "baselines/lstm_gates.h"

#include <algorithm>
#include <cmath>

namespace loopbrick {
namespace {

// Within these bounds no exponential overflows; outside, float32 has no other value to give.
inline float sigmoid(float x) { return 1.0F / (1.0F + std::exp(-std::clamp(x, -80.0F, 80.0F))); }
inline float hyperbolic_tangent(float x) {
  return 1.0F - 2.0F / (1.0F + std::exp(2.0F * std::clamp(x, -20.0F, 20.0F)));
}

/// One row of n, features [first, last).
__attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4"))) void apply_to_row(
    std::int64_t k, std::int64_t first, std::int64_t last, const float* gates, const float* bias,
    const float* last_c, float* c, float* h) {
#pragma omp simd
  for (std::int64_t j = first; j < last; ++j) {
    const float in = sigmoid(gates[j] + bias[j]);
    const float candidate = hyperbolic_tangent(gates[k + j] + bias[k + j]);
    const float forget = sigmoid(gates[2 * k + j] + bias[2 * k + j]);
    const float out = sigmoid(gates[3 * k + j] + bias[3 * k + j]);
    const float state = forget * last_c[j] + in * candidate;
    c[j] = state;
    h[j] = out * hyperbolic_tangent(state);
  }
}

}  // namespace

void apply_lstm_gates(std::int64_t n, std::int64_t k, const float* gates, const float* bias,
                      const float* last_c, float* c, float* h, int threads) {
  constexpr std::int64_t kBlock = 64;
#pragma omp parallel for collapse(2) schedule(static) num_threads(threads)
  for (std::int64_t row = 0; row < n; ++row) {
    for (std::int64_t first = 0; first < k; first += kBlock) {
      apply_to_row(k, first, std::min(first + kBlock, k), gates + row * 4 * k, bias,
                   last_c + row * k, c + row * k, h + row * k);
    }
  }
}

}  // namespace loopbrick
