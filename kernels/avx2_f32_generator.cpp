#include "kernels/fault.h"
#include "kernels/generator_base.h"
#include "kernels/isa.h"

namespace loopbrick {
namespace {

using Xbyak::RegExp;
using Xbyak::Xmm;
using Xbyak::Ymm;

/// ymm vectors. Column tails are taken in steps of 4, 2 and 1 lanes: a masked store costs more than
/// all of them on Zen, and a masked load reads outside the operand in some emulators.
class Avx2F32Generator : public GeneratorBase {
 public:
  explicit Avx2F32Generator(const BrgemmSpec& spec) : GeneratorBase(spec) { generate(); }

 private:
  static constexpr int kLanes = 8;
  static constexpr int kHalf = 4;
  static constexpr std::size_t kHalfBytes = 16;

  Xmm vector(int index) const override { return {Xbyak::Operand::YMM, index}; }
  Xmm spare_half() const { return Xmm(a_value().getIdx()); }

  void emit_prepare_tail(int lanes) override { tail_ = lanes; }

  void emit_load_tail(const Xmm& to, const Xbyak::Address& from) override {
    emit_load(Ymm(to.getIdx()), from.getRegExp(), tail_);
  }

  void emit_load_b_tail(const Xmm& to, const Xbyak::Address& from) override {
    emit_load(Ymm(to.getIdx()), from.getRegExp(), kFault == Fault::tail_lane ? tail_ - 1 : tail_);
  }

  void emit_store_tail(const Xbyak::Address& to, const Xmm& from) override {
    emit_store(to.getRegExp(), Ymm(from.getIdx()), tail_);
  }

  void emit_load(const Ymm& to, const RegExp& from, int lanes) {
    const Xmm low(to.getIdx());
    if (lanes == kLanes) return vmovups(to, ptr[from]);
    if (lanes <= kHalf) return emit_load_half(low, from, lanes);
    emit_load_half(spare_half(), from + kHalfBytes, lanes - kHalf);
    vmovups(low, ptr[from]);
    vinsertf128(to, to, spare_half(), 1);
  }

  void emit_load_half(const Xmm& to, const RegExp& from, int lanes) {
    switch (lanes) {
      case 0:
        return vxorps(to, to, to);
      case 1:
        return vmovss(to, ptr[from]);
      case 2:
        return vmovsd(to, ptr[from]);
      case 3:
        vmovsd(to, ptr[from]);
        return vinsertps(to, to, ptr[from + 8], 2 << 4);
      default:
        return vmovups(to, ptr[from]);
    }
  }

  void emit_store(const RegExp& to, const Ymm& from, int lanes) {
    const Xmm low(from.getIdx());
    if (lanes == kLanes) return vmovups(ptr[to], from);
    if (lanes <= kHalf) return emit_store_half(to, low, lanes);
    vmovups(ptr[to], low);
    vextractf128(spare_half(), from, 1);
    emit_store_half(to + kHalfBytes, spare_half(), lanes - kHalf);
  }

  void emit_store_half(const RegExp& to, const Xmm& from, int lanes) {
    switch (lanes) {
      case 1:
        return vmovss(ptr[to], from);
      case 2:
        return vmovsd(ptr[to], from);
      case 3:
        vmovsd(ptr[to], from);
        return vextractps(ptr[to + 8], from, 2);
      default:
        return vmovups(ptr[to], from);
    }
  }

  int tail_ = 0;
};

}  // namespace

std::unique_ptr<Xbyak::CodeGenerator> generate_avx2_f32(const BrgemmSpec& spec) {
  return std::make_unique<Avx2F32Generator>(spec);
}

}  // namespace loopbrick
