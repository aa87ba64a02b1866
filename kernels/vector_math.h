#pragma once
#include <xbyak/xbyak.h>

#include "kernels/activation.h"
#include "kernels/isa.h"

namespace loopbrick {

/// Emits functions of every lane of a register into the code of a generator, avx2 or avx512.
///
/// All are made of e^u - 1 = 2^n p + (2^n - 1), where u = n ln 2 + r, |r| <= ln 2 / 2, and p is a
/// polynomial for e^r - 1. NaN stays NaN, -0 may become 0. The two scratch registers are clobbered;
/// the constants are read from memory behind the code.
class VectorMath {
 public:
  VectorMath(Xbyak::CodeGenerator& code, Isa isa);

  /// value = 1 / (1 + e^-value), within 2.5 ulp from -87 to infinity; below -87 the value there,
  /// 1.6e-38, so that no result is denormal.
  void emit_sigmoid(const Xbyak::Xmm& value, const Xbyak::Xmm& scratch, const Xbyak::Xmm& other);

  /// value = tanh(value), within 3 ulp everywhere, near 0 too.
  void emit_tanh(const Xbyak::Xmm& value, const Xbyak::Xmm& scratch, const Xbyak::Xmm& other);

  /// value = value / 2 (1 + erf(value / sqrt 2)): within
  /// 4.5 + value^2 ulp from -12.9 to infinity, below 2^-22 absolutely up to 8; below -12.9 the
  /// value there, -3e-37.
  ///
  /// Clobbers the 64 bytes at rsp - 72: the System V ABI leaves 128 to functions that call nothing.
  void emit_gelu_erf(const Xbyak::Xmm& value, const Xbyak::Xmm& scratch, const Xbyak::Xmm& other);

  /// value = value / 2 (1 + tanh(sqrt(2 / pi) (value + 0.044715 value^3))): within
  /// 2.5 (1 + value^2) ulp from -9.8 to infinity, below 2^-22 absolutely up to 8; below -9.8 the
  /// value there, -1e-35. Clobbers what emit_gelu_erf does.
  void emit_gelu_tanh(const Xbyak::Xmm& value, const Xbyak::Xmm& scratch, const Xbyak::Xmm& other);

  /// That of the four which `activation` names; nothing for none and relu.
  void emit(Activation activation, const Xbyak::Xmm& value, const Xbyak::Xmm& scratch,
            const Xbyak::Xmm& other);

  /// Emits the table of constants, once, behind the last instruction; nothing if none was used.
  void emit_constants();

 private:
  Xbyak::Address constant(int index);
  void emit_load(const Xbyak::Xmm& to, int index);
  void emit_clamp(const Xbyak::Xmm& value, const Xbyak::Xmm& scratch, int least, int most);
  void emit_reduced(const Xbyak::Xmm& u, const Xbyak::Xmm& scale, const Xbyak::Xmm& p);
  void emit_polynomial(const Xbyak::Xmm& sum, const Xbyak::Xmm& x, int first, int count);
  void emit_magnitude(const Xbyak::Xmm& to, int most);
  void emit_below_relu(const Xbyak::Xmm& value, const Xbyak::Xmm& scratch);

  Xbyak::CodeGenerator& code_;
  Isa isa_;
  Xbyak::Label table_;
  bool used_ = false;
};

}  // namespace loopbrick
