#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/brgemm_kernel.h"

namespace loopbrick {

class PartTimes;

/// What a Plan runs: one step over one contraction, or all steps of an LSTM. Members mean what
/// those of Plan mean.
class Program {
 public:
  Program() = default;
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  virtual ~Program() = default;

  virtual std::int64_t workspace_bytes() const = 0;
  virtual std::int64_t laid_out_bytes(int operand) const = 0;
  virtual std::string layout(int operand) const = 0;
  virtual void lay_out(int operand, std::span<const float> plain, std::span<float> own) const = 0;
  virtual void take_back(int operand, std::span<const float> own, std::span<float> plain) const = 0;
  virtual std::int64_t calls() const = 0;
  virtual std::int64_t barriers() const = 0;
  virtual double executed_flops() const = 0;
  virtual std::vector<std::shared_ptr<const BrgemmKernel>> generated() const = 0;
  virtual void prepare(std::span<void* const> operands, std::span<std::byte> workspace) const = 0;
  virtual void run(std::span<void* const> operands,
                   std::span<std::byte> workspace) const noexcept = 0;

  /// run, with each thread's time in the parts that it consists of, which only an LSTM has.
  virtual void run_timed(std::span<void* const> operands, std::span<std::byte> workspace,
                         PartTimes& /*times*/) const noexcept {
    run(operands, workspace);
  }
};

}  // namespace loopbrick
