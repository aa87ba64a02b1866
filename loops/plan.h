#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/kernel_cache.h"
#include "loops/schedule.h"
#include "problems/conditions.h"
#include "problems/implementation.h"
#include "problems/problem.h"
#include "problems/refusal.h"

namespace loopbrick {

struct Contraction;
class Program;

/// Why this schedule cannot run this problem, or nothing if it can. Allocates nothing.
std::optional<Refusal> why_not(const Problem& problem, const Schedule& schedule,
                               const Conditions& conditions);

/// The same for a search that asks millions of times: `contraction` is that of the problem.
std::optional<Refusal> why_not(const Contraction& contraction, const Schedule& schedule,
                               const Conditions& conditions);

/// A problem and a schedule made ready: kernels generated, sizes known. Owns no operand.
///
/// Shapes   operands as laid_out_bytes says: activations in the problem's layout, weights as the
/// schedule wants them. Errors   the constructor throws std::invalid_argument with why_not's
/// sentence, and what KernelCache::get throws. Threads  run starts conditions.threads OpenMP
/// threads; runs of one plan at once need workspaces of their own.
class Plan {
 public:
  Plan(const Problem& problem, const Schedule& schedule, const Conditions& conditions,
       KernelCache& kernels);
  ~Plan();
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;

  std::int64_t workspace_bytes() const;
  std::int64_t laid_out_bytes(
      int operand) const;  ///< of operands(problem)[operand], as run wants it

  /// How the plan wants it: plans of one problem whose texts agree can share the operand.
  std::string layout(int operand) const;

  /// Copies between the plain layout and the plan's own (untimed by users of the harness).
  void lay_out(int operand, std::span<const float> plain, std::span<float> own) const;
  void take_back(int operand, std::span<const float> own, std::span<float> plain) const;

  /// Kernel calls, barriers of all threads (the ends of parallel regions, too), and FLOPs really
  /// executed (2 a multiply-add), of one run.
  std::int64_t calls() const;
  std::int64_t barriers() const;
  double executed_flops() const;
  std::string kernels() const;  ///< the kernels' specs, one a line
  std::vector<std::shared_ptr<const BrgemmKernel>> generated() const;  ///< themselves, for listings

  /// Untimed, once the inputs are laid out: what a backward pass keeps of its forward pass, into
  /// the workspace, where runs leave it alone. Nothing for most problems.
  void prepare(std::span<void* const> operands, std::span<std::byte> workspace) const;

  /// `operands` in the order of operands(problem), 64-byte aligned; `workspace` of workspace_bytes,
  /// 64-byte aligned.
  void run(std::span<void* const> operands, std::span<std::byte> workspace) const noexcept;

 private:
  std::unique_ptr<Program> program_;
};

/// Our row of the table of implementations; `choice` is a schedule text.
extern const Implementation kLoopbrick;

/// Rises whenever generated code or a schedule's meaning changes: times of different versions are
/// not compared.
inline constexpr int kGeneratorVersion = 1;

}  // namespace loopbrick
