#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "kernels/brgemm_spec.h"

namespace loopbrick {

/// One batch entry of the address form.
struct BatchAddress {
  const void* a = nullptr;
  const void* b = nullptr;
};

/// One batch entry of the offset form, in elements from BrgemmCall::a and b.
struct BatchOffset {
  std::int64_t a = 0;
  std::int64_t b = 0;
};

/// Operands of one call. The kernel reads them and the lists; it writes C and nothing else.
struct BrgemmCall {
  const void* a = nullptr;  ///< offset and stride form: the base of A
  const void* b = nullptr;
  void* c = nullptr;
  const void* list =
      nullptr;  ///< address form: BatchAddress[], offset form: BatchOffset[], in group order
  const std::int64_t* counts =
      nullptr;  ///< entries of each window group (one count if the spec has no windows)
  const float* bias = nullptr;  ///< n values, if the spec has a bias
};

/// A function for exactly one BrgemmSpec: generated code, or plain C++ for Isa::ref.
///
/// Errors   the constructor throws std::invalid_argument with why_not(spec), std::runtime_error
/// when the system
///          grants no executable pages; calling never throws.
/// Threads  calls may run at once; the object holds no mutable state.
class BrgemmKernel {
 public:
  explicit BrgemmKernel(const BrgemmSpec& spec);
  ~BrgemmKernel();
  BrgemmKernel(BrgemmKernel&&) noexcept;
  BrgemmKernel& operator=(BrgemmKernel&&) noexcept;

  void operator()(const BrgemmCall& call) const noexcept { entry_(context_, call); }

  const BrgemmSpec& spec() const noexcept;

  /// The machine code, for listings; empty for Isa::ref.
  std::span<const std::uint8_t> code() const noexcept;

 private:
  class Code;  // keeps <xbyak/xbyak.h> out of this header

  std::unique_ptr<Code> code_;
  const void* context_ = nullptr;  ///< the spec, which only the reference reads
  void (*entry_)(const void* context, const BrgemmCall& call) = nullptr;
};

/// The same computation in plain C++ with double accumulators: the truth that kernels are compared
/// with.
void brgemm_reference(const BrgemmSpec& spec, const BrgemmCall& call);

}  // namespace loopbrick
