#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "problems/conditions.h"
#include "problems/operands.h"
#include "problems/problem.h"
#include "problems/refusal.h"

namespace loopbrick {

class BrgemmKernel;

/// A problem made ready to run, with its operands.
struct Runnable {
  std::string implementation;  ///< what really runs: "brgconv:avx512_core", "avx512 6x64"
  std::string included;        ///< inside run besides the work: "packing"; empty: nothing else
  std::string
      flag;  ///< what makes the number doubtful: "ref", "core below the CPU's ISA"; empty: nothing
  double executed_flops = 0.0;  ///< that run really executes (2 per multiply-add); 0: as counted
  std::int64_t workspace_bytes = 0;
  std::vector<std::shared_ptr<const BrgemmKernel>> kernels;  ///< that run calls, for profilers
  std::function<void(const Arrays&)> load;                   ///< untimed: plain layout to its own
  std::function<void()> run;                                 ///< timed; overwrites every output
  std::function<void(const Arrays&)> unload;  ///< untimed: outputs to the plain layout
};

/// Anybody's way to run a problem: one row of a table.
///
/// Errors   prepare returns a Refusal for what it cannot do; it throws std::bad_alloc or
/// std::runtime_error only when
///          the world fails (no memory, no executable pages).
/// Threads  run uses exactly conditions.threads OpenMP threads.
struct Implementation {
  std::string_view name;
  std::string_view sentence;
  std::string (*version)();
  std::variant<Runnable, Refusal> (*prepare)(const Problem&, std::string_view choice,
                                             const Conditions&);
  /// Runnables of one problem hold the same operands while conditions are warm: they are run one
  /// after the other, and many of them need little more memory than one.
  bool shares_operands = false;
};

}  // namespace loopbrick
