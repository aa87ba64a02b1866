#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

namespace loopbrick {

// Functions of one element that compilers make vectors of; inlined into loops of any instruction
// set.

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

/// The slope of gelu_erf, exact to 2^-22, absolutely: the share of a normal distribution below x,
/// and x times its density. The quotient is that of VectorMath.
[[gnu::always_inline]] inline float slope_of_gelu_erf(float x) {
  const float cut = std::min(std::max(x, -12.9F), 12.9F);
  const float t = cut < 0.0F ? -cut : cut;
  const float bell = exponential(-0.5F * t * t);
  const float top =
      (((0.00396657560F * t + 0.0396338684F) * t + 0.180282995F) * t + 0.434327707F) * t + 0.5F;
  const float bottom =
      ((((0.00994257723F * t + 0.0993551676F) * t + 0.461672660F) * t + 1.19026943F) * t +
       1.66654019F) *
          t +
      1.0F;
  const float beyond = bell * top / bottom;
  return (cut < 0.0F ? beyond : 1.0F - beyond) + cut * bell * 0.398942280F;
}

/// Likewise of gelu_tanh, whose share is 1 / (1 + e^-2u).
[[gnu::always_inline]] inline float slope_of_gelu_tanh(float x) {
  constexpr float kSlope = 1.59576912F, kCubic = 0.0713548163F;  // of 2u
  const float cut = std::min(std::max(x, -9.8F), 9.8F);
  const float t = cut < 0.0F ? -cut : cut;
  const float power = exponential(-t * (kSlope + kCubic * t * t));
  const float most = 1.0F / (1.0F + power);
  const float least = power * most;
  const float steepness = kSlope + 3.0F * kCubic * t * t;
  return (cut < 0.0F ? least : most) + cut * most * least * steepness;
}

}  // namespace loopbrick
