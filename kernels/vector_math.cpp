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
  kFirstCoefficient
};

constexpr int kCoefficients = 6;

constexpr std::array<float, kFirstCoefficient + kCoefficients> kConstants{
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
    // (e^r - 1 - r) / r^2, interpolated at the Chebyshev nodes of [-0.348, 0.348].
    0.5F,
    0.166666672F,
    0.041666463F,
    0.00833331048F,
    0.00139339105F,
    0.000198912807F,
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

/// scale = 2^n and p = e^r - 1, where u = n ln 2 + r is clobbered.
void VectorMath::emit_reduced(const Xbyak::Xmm& u, const Xbyak::Xmm& scale, const Xbyak::Xmm& p) {
  emit_load(scale, kRound);
  code_.vfmadd231ps(scale, u, constant(kLog2E));
  code_.vsubps(p, scale, constant(kRound));
  code_.vfnmadd231ps(u, p, constant(kLn2High));
  code_.vfnmadd231ps(u, p, constant(kLn2Low));
  code_.vpslld(scale, scale, kExponentBit);
  code_.vpaddd(scale, scale, constant(kOne));  // n into the exponent's bits
  emit_load(p, kFirstCoefficient + kCoefficients - 1);
  for (int i = kCoefficients - 2; i >= 0; --i) {
    code_.vfmadd213ps(p, u, constant(kFirstCoefficient + i));
  }
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

void VectorMath::emit_constants() {
  if (!used_) return;
  code_.L(table_);
  for (const float value : kConstants) {
    for (int i = 0; i < kEntryFloats; ++i) code_.dd(std::bit_cast<std::uint32_t>(value));
  }
}

}  // namespace loopbrick
