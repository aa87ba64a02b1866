#pragma once
#include <filesystem>
#include <set>

#include "kernels/brgemm_kernel.h"

namespace loopbrick {

/// The file in which perf looks up the names of generated code: one line a kernel, its address and
/// size in hexadecimal digits and the text of its spec.
///
/// The file stays when the process ends: perf reads it afterwards.
///
/// Needs    kernels that live as long as the process, or addresses get two names.
/// Errors   the constructor and add throw std::system_error naming the file.
/// Threads  one.
/// Source   tools/perf/Documentation/jit-interface.txt of the Linux kernel.
class PerfMap {
 public:
  /// Begins the file anew: what is in it is of an older process with the same number.
  explicit PerfMap(std::filesystem::path file = default_path());
  ~PerfMap();
  PerfMap(const PerfMap&) = delete;
  PerfMap& operator=(const PerfMap&) = delete;

  void add(const BrgemmKernel& kernel);  ///< nothing if it is there, or has no code (Isa::ref)

  static std::filesystem::path default_path();  ///< "/tmp/perf-4711.map" of process 4711

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
  std::set<const void*> added_;
};

}  // namespace loopbrick
