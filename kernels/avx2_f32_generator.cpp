#include "kernels/fault.h"
#include "kernels/generator_base.h"
#include "kernels/isa.h"

namespace loopbrick {
namespace {

/// ymm vectors. Column tails are masked by a constant behind the code; the register that broadcasts
/// A holds the mask while it has nothing else to hold.
class Avx2F32Generator : public GeneratorBase {
 public:
  explicit Avx2F32Generator(const BrgemmSpec& spec) : GeneratorBase(spec) { generate(); }

 private:
  Xbyak::Xmm vector(int index) const override { return {Xbyak::Operand::YMM, index}; }

  void emit_prepare_tail(int lanes) override { tail_lanes_ = lanes; }

  void emit_load_tail(const Xbyak::Xmm& to, const Xbyak::Address& from) override {
    vmovups(a_value(), ptr[rip + mask_]);
    vmaskmovps(to, a_value(), from);
  }

  void emit_load_b_tail(const Xbyak::Xmm& to, const Xbyak::Address& from) override {
    vmovups(a_value(), ptr[rip + b_mask_]);
    vmaskmovps(to, a_value(), from);
  }

  void emit_store_tail(const Xbyak::Address& to, const Xbyak::Xmm& from) override {
    vmovups(a_value(), ptr[rip + mask_]);
    vmaskmovps(to, a_value(), from);
  }

  void emit_constants() override {
    if (tail_lanes_ == 0) return;
    emit_mask(mask_, tail_lanes_);
    emit_mask(b_mask_, kFault == Fault::tail_lane ? tail_lanes_ - 1 : tail_lanes_);
  }

  void emit_mask(Xbyak::Label& label, int active) {
    align(32);
    L(label);
    for (int lane = 0; lane < lanes(Isa::avx2); ++lane) dd(lane < active ? 0xffffffffU : 0U);
  }

  int tail_lanes_ = 0;
  Xbyak::Label mask_;
  Xbyak::Label b_mask_;
};

}  // namespace

std::unique_ptr<Xbyak::CodeGenerator> generate_avx2_f32(const BrgemmSpec& spec) {
  return std::make_unique<Avx2F32Generator>(spec);
}

}  // namespace loopbrick
