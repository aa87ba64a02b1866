#include "kernels/fault.h"
#include "kernels/generator_base.h"

namespace loopbrick {
namespace {

/// zmm vectors; column tails are masked by k1 (B by k2, which differs only in a build with a
/// fault).
class Avx512F32Generator : public GeneratorBase {
 public:
  explicit Avx512F32Generator(const BrgemmSpec& spec) : GeneratorBase(spec) { generate(); }

 private:
  Xbyak::Xmm vector(int index) const override { return {Xbyak::Operand::ZMM, index}; }

  void emit_prepare_tail(int lanes) override {
    emit_mask(k1, lanes);
    if (kFault == Fault::tail_lane) emit_mask(k2, lanes - 1);
  }

  void emit_mask(const Xbyak::Opmask& mask, int lanes) {
    mov(eax, (1U << lanes) - 1U);
    kmovw(mask, eax);
  }

  void emit_load_tail(const Xbyak::Xmm& to, const Xbyak::Address& from) override {
    vmovups(to | k1 | T_z, from);
  }

  void emit_load_b_tail(const Xbyak::Xmm& to, const Xbyak::Address& from) override {
    vmovups(to | (kFault == Fault::tail_lane ? k2 : k1) | T_z, from);
  }

  void emit_store_tail(const Xbyak::Address& to, const Xbyak::Xmm& from) override {
    vmovups(to | k1, from);
  }

  /// With a single vector each broadcast serves one multiply-add: as a memory operand it costs no
  /// instruction of its own.
  void emit_update_row(int row, std::int64_t a_displacement) override {
    if (vectors() > 1) return GeneratorBase::emit_update_row(row, a_displacement);
    vfmadd231ps(tile(row, 0), b_row(0), ptr_b[a_element(a_displacement)]);
  }
};

}  // namespace

std::unique_ptr<Xbyak::CodeGenerator> generate_avx512_f32(const BrgemmSpec& spec) {
  return std::make_unique<Avx512F32Generator>(spec);
}

}  // namespace loopbrick
