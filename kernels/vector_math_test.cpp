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

enum class Function { sigmoid, tanh };

/// The function of a whole vector in place.
class OneVector : public Xbyak::CodeGenerator {
 public:
  OneVector(Isa isa, Function function) {
    const auto kind = isa == Isa::avx512 ? Xbyak::Operand::ZMM : Xbyak::Operand::YMM;
    const Xbyak::Xmm value(kind, 0), scratch(kind, 1), other(kind, 2);
    VectorMath math(*this, isa);
    vmovups(value, ptr[rdi]);
    if (function == Function::sigmoid) math.emit_sigmoid(value, scratch, other);
    if (function == Function::tanh) math.emit_tanh(value, scratch, other);
    vmovups(ptr[rdi], value);
    vzeroupper();
    ret();
    math.emit_constants();
  }

  void operator()(float* values) const { getCode<void (*)(float*)>()(values); }
};

double exact(Function function, double x) {
  return function == Function::sigmoid ? 1.0 / (1.0 + std::exp(-x)) : std::tanh(x);
}

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

/// Of every 997th float from least to infinity, both signs.
double worst_ulps(Isa isa, Function function, float least, float most) {
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
      worst = std::max(worst, ulps(y[i], exact(function, x[i])));
    }
  }
  return worst;
}

constexpr float kLargest = std::numeric_limits<float>::max();

TEST(VectorMath, TanhIsWithin3UlpEverywhere) {
  for (const Isa isa : generated_isas()) {
    const double worst = worst_ulps(isa, Function::tanh, 0.0F, kLargest);
    EXPECT_LE(worst, 3.0) << to_string(isa);
  }
}

TEST(VectorMath, SigmoidIsWithin2AndAHalfUlpFromMinus87) {
  for (const Isa isa : generated_isas()) {
    const double worst = worst_ulps(isa, Function::sigmoid, 0.0F, 87.0F);
    EXPECT_LE(worst, 2.5) << to_string(isa);
  }
}

float at(Isa isa, Function function, float x) {
  std::vector<float> values(static_cast<std::size_t>(lanes(isa)), x);
  OneVector(isa, function)(values.data());
  return values.back();
}

TEST(VectorMath, EndsAreExactAndNotANumberStays) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  for (const Isa isa : generated_isas()) {
    EXPECT_EQ(at(isa, Function::tanh, kInfinity), 1.0F);
    EXPECT_EQ(at(isa, Function::tanh, -kInfinity), -1.0F);
    EXPECT_EQ(at(isa, Function::tanh, kLargest), 1.0F);
    EXPECT_EQ(at(isa, Function::tanh, 0.0F), 0.0F);
    EXPECT_EQ(at(isa, Function::sigmoid, kInfinity), 1.0F);
    EXPECT_EQ(at(isa, Function::sigmoid, 0.0F), 0.5F);
    EXPECT_TRUE(std::isnan(at(isa, Function::tanh, kNaN)));
    EXPECT_TRUE(std::isnan(at(isa, Function::sigmoid, kNaN)));
    for (const float x : {-88.0F, -1e9F, -kInfinity}) {
      EXPECT_EQ(at(isa, Function::sigmoid, x), at(isa, Function::sigmoid, -87.0F));
      EXPECT_LT(at(isa, Function::sigmoid, x), 1.7e-38F);
    }
  }
}

}  // namespace
}  // namespace loopbrick
