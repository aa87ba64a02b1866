#include "kernels/vector_math.h"

#include <array>
#include <bit>
#include <cstdint>

namespace loopbrick {
namespace {

/// A table entry fills a ymm; zmm code broadcasts its first element.
constexpr int kEntryFloats = 8;
constexpr int kEntryBytes = 32;
constexpr int kExponentBit = 23;

enum Constant {
  kOne,
  kTwo,
  kSign,
  kLog2E,
  kRound,
  kLn2High,
  kLn2Low,
  kSigmoidMost,
  kSigmoidLeast,
  kTanhMost,
  kTanhLeast,
  kMagnitude,
  kLeastSquared,
  kGeluErfMost,
  kGeluTanhMost,
  kMinusHalf,
  kGeluTanhSlope,
  kGeluTanhCubic,
  kFirstCoefficient
};

constexpr int kCoefficients = 6;
constexpr int kMillsTop = kFirstCoefficient + kCoefficients;
constexpr int kMillsTopCoefficients = 5;
constexpr int kMillsBottom = kMillsTop + kMillsTopCoefficients;
constexpr int kMillsBottomCoefficients = 6;

constexpr std::array<float, kMillsBottom + kMillsBottomCoefficients> kConstants{
    1.0F,
    2.0F,
    -0.0F,
    1.44269502F,
    12582912.0F,   // 1.5 * 2^23: adding it rounds to a whole number
    0.693145752F,  // ln 2 in two parts: n times the upper one is exact
    1.42860677e-6F,
    87.0F,
    -87.0F,
    18.1F,  // tanh(9.05) rounds to 1
    -18.1F,
    std::bit_cast<float>(0x7fffffffU),  // all but the sign
    1e-15F,                             // its square is normal, and nothing beside 1
    12.9F,                              // there gelu_erf is 3e-37
    9.8F,                               // there gelu_tanh is 1e-35
    -0.5F,
    -1.59576912F,    // -2 sqrt(2 / pi)
    -0.0713548163F,  // that times 0.044715
    // (e^r - 1 - r) / r^2, interpolated at the Chebyshev nodes of [-0.348, 0.348].
    0.5F,
    0.166666672F,
    0.041666463F,
    0.00833331048F,
    0.00139339105F,
    0.000198912807F,
    // e^(t^2/2) times the share of a normal distribution beyond t, from 0 to 13: the numerator and
    // the denominator, fitted to a relative error of 2^-27.5.
    0.5F,
    0.434327707F,
    0.180282995F,
    0.0396338684F,
    0.00396657560F,
    1.0F,
    1.66654019F,
    1.19026943F,
    0.461672660F,
    0.0993551676F,
    0.00994257723F,
};

}  // namespace

VectorMath::VectorMath(Xbyak::CodeGenerator& code, Isa isa) : code_(code), isa_(isa) {}

Xbyak::Address VectorMath::constant(int index) {
  used_ = true;
  const Xbyak::RegRip place = Xbyak::util::rip + table_ + index * kEntryBytes;
  return isa_ == Isa::avx512 ? Xbyak::util::ptr_b[place] : Xbyak::util::ptr[place];
}

void VectorMath::emit_load(const Xbyak::Xmm& to, int index) {
  used_ = true;
  code_.vbroadcastss(to, Xbyak::util::ptr[Xbyak::util::rip + table_ + index * kEntryBytes]);
}

/// The value is the second operand: vminps and vmaxps return that one when either is NaN.
void VectorMath::emit_clamp(const Xbyak::Xmm& value, const Xbyak::Xmm& scratch, int least,
                            int most) {
  emit_load(scratch, most);
  code_.vminps(value, scratch, value);
  emit_load(scratch, least);
  code_.vmaxps(value, scratch, value);
}

/// sum = the polynomial of x whose coefficients are constants from `first`, of x^0, on.
void VectorMath::emit_polynomial(const Xbyak::Xmm& sum, const Xbyak::Xmm& x, int first, int count) {
  emit_load(sum, first + count - 1);
  for (int i = count - 2; i >= 0; --i) code_.vfmadd213ps(sum, x, constant(first + i));
}

/// scale = 2^n and p = e^r - 1, where u = n ln 2 + r is clobbered.
void VectorMath::emit_reduced(const Xbyak::Xmm& u, const Xbyak::Xmm& scale, const Xbyak::Xmm& p) {
  emit_load(scale, kRound);
  code_.vfmadd231ps(scale, u, constant(kLog2E));
  code_.vsubps(p, scale, constant(kRound));
  code_.vfnmadd231ps(u, p, constant(kLn2High));
  code_.vfnmadd231ps(u, p, constant(kLn2Low));
  code_.vpslld(scale, scale, kExponentBit);
  code_.vpaddd(scale, scale, constant(kOne));  // n into the exponent's bits
  emit_polynomial(p, u, kFirstCoefficient, kCoefficients);
  code_.vmulps(p, p, u);  // never u * u, which is denormal for small u
  code_.vfmadd213ps(p, u, u);
}

void VectorMath::emit_sigmoid(const Xbyak::Xmm& value, const Xbyak::Xmm& scratch,
                              const Xbyak::Xmm& other) {
  emit_clamp(value, scratch, kSigmoidLeast, kSigmoidMost);
  code_.vxorps(value, value, constant(kSign));
  emit_reduced(value, scratch, other);
  code_.vfmadd213ps(other, scratch, scratch);  // e^-value
  code_.vaddps(other, other, constant(kOne));
  emit_load(value, kOne);
  code_.vdivps(value, value, other);
}

void VectorMath::emit_tanh(const Xbyak::Xmm& value, const Xbyak::Xmm& scratch,
                           const Xbyak::Xmm& other) {
  code_.vaddps(value, value, value);
  emit_clamp(value, scratch, kTanhLeast, kTanhMost);
  emit_reduced(value, scratch, other);
  code_.vsubps(value, scratch, constant(kOne));
  code_.vfmadd231ps(value, scratch, other);  // t = e^2x - 1
  code_.vaddps(other, value, constant(kTwo));
  code_.vdivps(value, value, other);
}

namespace {

/// Where gelu keeps its argument to the end: there may be no register for it.
Xbyak::Address saved() { return Xbyak::util::ptr[Xbyak::util::rsp - 72]; }

}  // namespace

/// to = |argument|, at most the constant `most`.
void VectorMath::emit_magnitude(const Xbyak::Xmm& to, int most) {
  emit_load(to, kMagnitude);
  code_.vandps(to, to, saved());
  code_.vminps(to, to, constant(most));
}

/// value = max(argument, 0) - value. The argument is the last operand: NaN stays.
void VectorMath::emit_below_relu(const Xbyak::Xmm& value, const Xbyak::Xmm& scratch) {
  code_.vxorps(scratch, scratch, scratch);
  code_.vmaxps(scratch, scratch, saved());
  code_.vsubps(value, scratch, value);
}

/// Of either side of 0 gelu is max(x, 0) - h(|x|), where h(t) is t times the share of the
/// distribution beyond t, here e^(-t^2/2) times a quotient of polynomials: no digits are lost.
void VectorMath::emit_gelu_erf(const Xbyak::Xmm& value, const Xbyak::Xmm& scratch,
                               const Xbyak::Xmm& other) {
  code_.vmovups(saved(), value);
  emit_magnitude(value, kGeluErfMost);
  code_.vmaxps(value, value, constant(kLeastSquared));
  code_.vmulps(value, value, value);
  code_.vmulps(value, value, constant(kMinusHalf));
  emit_reduced(value, scratch, other);
  code_.vfmadd213ps(other, scratch, scratch);
  emit_magnitude(value, kGeluErfMost);
  emit_polynomial(scratch, value, kMillsTop, kMillsTopCoefficients);
  code_.vmulps(other, other, scratch);
  code_.vmulps(other, other, value);
  emit_polynomial(scratch, value, kMillsBottom, kMillsBottomCoefficients);
  code_.vdivps(value, other, scratch);
  emit_below_relu(value, scratch);
}

/// Likewise, where the share beyond t is e^-2u / (1 + e^-2u) of u = sqrt(2 / pi) (t + 0.044715
/// t^3).
void VectorMath::emit_gelu_tanh(const Xbyak::Xmm& value, const Xbyak::Xmm& scratch,
                                const Xbyak::Xmm& other) {
  code_.vmovups(saved(), value);
  emit_magnitude(value, kGeluTanhMost);
  code_.vmaxps(value, value, constant(kLeastSquared));
  code_.vmulps(scratch, value, value);
  emit_load(other, kGeluTanhCubic);
  code_.vfmadd213ps(scratch, other, constant(kGeluTanhSlope));
  code_.vmulps(value, value, scratch);
  emit_reduced(value, scratch, other);
  code_.vfmadd213ps(other, scratch, scratch);
  emit_magnitude(value, kGeluTanhMost);
  code_.vmulps(value, value, other);
  code_.vaddps(other, other, constant(kOne));
  code_.vdivps(value, value, other);
  emit_below_relu(value, scratch);
}

void VectorMath::emit(Activation activation, const Xbyak::Xmm& value, const Xbyak::Xmm& scratch,
                      const Xbyak::Xmm& other) {
  switch (activation) {
    case Activation::sigmoid:
      return emit_sigmoid(value, scratch, other);
    case Activation::tanh:
      return emit_tanh(value, scratch, other);
    case Activation::gelu_erf:
      return emit_gelu_erf(value, scratch, other);
    case Activation::gelu_tanh:
      return emit_gelu_tanh(value, scratch, other);
    case Activation::none:
    case Activation::relu:
      return;
  }
}

void VectorMath::emit_constants() {
  if (!used_) return;
  code_.L(table_);
  for (const float value : kConstants) {
    for (int i = 0; i < kEntryFloats; ++i) code_.dd(std::bit_cast<std::uint32_t>(value));
  }
}

}  // namespace loopbrick
