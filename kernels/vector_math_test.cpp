#include "kernels/vector_math.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace loopbrick {
namespace {

/// The function of a whole vector in place.
class OneVector : public Xbyak::CodeGenerator {
 public:
  OneVector(Isa isa, Activation function) {
    const auto kind = isa == Isa::avx512 ? Xbyak::Operand::ZMM : Xbyak::Operand::YMM;
    const Xbyak::Xmm value(kind, 0), scratch(kind, 1), other(kind, 2);
    VectorMath math(*this, isa);
    vmovups(value, ptr[rdi]);
    math.emit(function, value, scratch, other);
    vmovups(ptr[rdi], value);
    vzeroupper();
    ret();
    math.emit_constants();
  }

  void operator()(float* values) const { getCode<void (*)(float*)>()(values); }
};

/// In units of the last place of the float next to the exact value.
double ulps(float got, double wanted) {
  const int exponent = std::max(std::ilogb(wanted), -126);
  return std::abs(got - wanted) / std::ldexp(1.0, exponent - 23);
}

std::vector<Isa> generated_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : {Isa::avx2, Isa::avx512}) {
    if (isa <= best_isa()) isas.push_back(isa);
  }
  return isas;
}

/// Of every 997th float from least to infinity, both signs; `growing` x^2 ulp are forgiven.
double worst_ulps(Isa isa, Activation function, float least, float most, double growing = 0.0) {
  const OneVector run(isa, function);
  const auto count = static_cast<std::size_t>(lanes(isa));
  const auto first = std::bit_cast<std::uint32_t>(least), last = std::bit_cast<std::uint32_t>(most);
  std::vector<float> x(count), y(count);
  double worst = 0.0;
  for (std::uint32_t bits = first; bits <= last; bits += 997) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto near =
          std::bit_cast<float>(std::min(bits + static_cast<std::uint32_t>(i / 2), last));
      x[i] = i % 2 == 0 ? near : -near;
    }
    y = x;
    run(y.data());
    for (std::size_t i = 0; i < count; ++i) {
      const double forgiven = growing * double{x[i]} * double{x[i]};
      worst = std::max(worst, ulps(y[i], activated(function, x[i])) - forgiven);
    }
  }
  return worst;
}

constexpr float kLargest = std::numeric_limits<float>::max();

TEST(VectorMath, TanhIsWithin3UlpEverywhere) {
  for (const Isa isa : generated_isas()) {
    const double worst = worst_ulps(isa, Activation::tanh, 0.0F, kLargest);
    EXPECT_LE(worst, 3.0) << to_string(isa);
  }
}

TEST(VectorMath, SigmoidIsWithin2AndAHalfUlpFromMinus87) {
  for (const Isa isa : generated_isas()) {
    const double worst = worst_ulps(isa, Activation::sigmoid, 0.0F, 87.0F);
    EXPECT_LE(worst, 2.5) << to_string(isa);
  }
}

TEST(VectorMath, GeluIsWithinAFewUlpWhereItIsNotTiny) {
  for (const Isa isa : generated_isas()) {
    EXPECT_LE(worst_ulps(isa, Activation::gelu_erf, 0.0F, 12.9F, 1.0), 4.5) << to_string(isa);
    EXPECT_LE(worst_ulps(isa, Activation::gelu_tanh, 0.0F, 9.8F, 2.5), 2.5) << to_string(isa);
  }
}

float at(Isa isa, Activation function, float x) {
  std::vector<float> values(static_cast<std::size_t>(lanes(isa)), x);
  OneVector(isa, function)(values.data());
  return values.back();
}

TEST(VectorMath, EndsAreExactAndNotANumberStays) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  for (const Isa isa : generated_isas()) {
    EXPECT_EQ(at(isa, Activation::tanh, kInfinity), 1.0F);
    EXPECT_EQ(at(isa, Activation::tanh, -kInfinity), -1.0F);
    EXPECT_EQ(at(isa, Activation::tanh, kLargest), 1.0F);
    EXPECT_EQ(at(isa, Activation::tanh, 0.0F), 0.0F);
    EXPECT_EQ(at(isa, Activation::sigmoid, kInfinity), 1.0F);
    EXPECT_EQ(at(isa, Activation::sigmoid, 0.0F), 0.5F);
    EXPECT_TRUE(std::isnan(at(isa, Activation::tanh, kNaN)));
    EXPECT_TRUE(std::isnan(at(isa, Activation::sigmoid, kNaN)));
    for (const Activation gelu : {Activation::gelu_erf, Activation::gelu_tanh}) {
      EXPECT_EQ(at(isa, gelu, kInfinity), kInfinity);
      EXPECT_EQ(at(isa, gelu, kLargest), kLargest);
      EXPECT_EQ(at(isa, gelu, 1e-30F), 0.5e-30F);
      EXPECT_EQ(at(isa, gelu, 0.0F), 0.0F);
      EXPECT_TRUE(std::isnan(at(isa, gelu, kNaN)));
      for (const float x : {-13.0F, -1e30F, -kInfinity}) {
        EXPECT_LT(at(isa, gelu, x), -1.2e-38F);
        EXPECT_GT(at(isa, gelu, x), -2e-35F);
      }
    }
    for (const float x : {-88.0F, -1e9F, -kInfinity}) {
      EXPECT_EQ(at(isa, Activation::sigmoid, x), at(isa, Activation::sigmoid, -87.0F));
      EXPECT_LT(at(isa, Activation::sigmoid, x), 1.7e-38F);
    }
  }
}

}  // namespace
}  // namespace loopbrick
