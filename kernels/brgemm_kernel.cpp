#include "kernels/brgemm_kernel.h"

#include <fmt/format.h>
#include <stdexcept>

#include "kernels/generator_base.h"

namespace loopbrick {
namespace {

using Entry = void (*)(const void* context, const BrgemmCall& call);

void run_reference(const void* context, const BrgemmCall& call) {
  brgemm_reference(*static_cast<const BrgemmSpec*>(context), call);
}

void require_possible(const BrgemmSpec& spec) {
  if (const auto reason = why_not(spec)) throw std::invalid_argument("BrgemmKernel: " + *reason);
  if (spec.isa > best_isa()) {
    throw std::invalid_argument(fmt::format("BrgemmKernel: this CPU has no {}, only {}",
                                            to_string(spec.isa), to_string(best_isa())));
  }
}

std::string sentence(int error, const BrgemmSpec& spec) {
  if (error == Xbyak::ERR_CANT_PROTECT || error == Xbyak::ERR_CANT_ALLOC) {
    return "BrgemmKernel: the system grants no executable pages for generated code (is a rule like "
           "MemoryDenyWriteExecute or SELinux's execmem in force?); Isa::ref needs none";
  }
  return fmt::format("BrgemmKernel: no code for '{}': {}", to_string(spec),
                     Xbyak::ConvertErrorToString(error));
}

/// Nothing for Isa::ref.
std::unique_ptr<Xbyak::CodeGenerator> generate(const BrgemmSpec& spec) {
  try {
    if (spec.isa == Isa::avx512) return generate_avx512_f32(spec);
    if (spec.isa == Isa::avx2) return generate_avx2_f32(spec);
    return nullptr;
  } catch (const Xbyak::Error& error) {
    throw std::runtime_error(sentence(error, spec));
  }
}

}  // namespace

class BrgemmKernel::Code {
 public:
  explicit Code(const BrgemmSpec& spec) : spec_(spec), generator_(generate(spec)) {}

  const BrgemmSpec& spec() const { return spec_; }
  Entry entry() const { return generator_ ? generator_->getCode<Entry>() : run_reference; }
  std::span<const std::uint8_t> bytes() const {
    if (!generator_) return {};
    return {generator_->getCode(), generator_->getSize()};
  }

 private:
  BrgemmSpec spec_;
  std::unique_ptr<Xbyak::CodeGenerator> generator_;
};

BrgemmKernel::BrgemmKernel(const BrgemmSpec& spec) {
  require_possible(spec);
  code_ = std::make_unique<Code>(spec);
  context_ = &code_->spec();
  entry_ = code_->entry();
}

BrgemmKernel::~BrgemmKernel() = default;
BrgemmKernel::BrgemmKernel(BrgemmKernel&&) noexcept = default;
BrgemmKernel& BrgemmKernel::operator=(BrgemmKernel&&) noexcept = default;

const BrgemmSpec& BrgemmKernel::spec() const noexcept { return code_->spec(); }

std::span<const std::uint8_t> BrgemmKernel::code() const noexcept { return code_->bytes(); }

}  // namespace loopbrick
