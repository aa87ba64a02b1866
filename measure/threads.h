#pragma once
#include <sched.h>
#include <string>
#include <vector>

namespace loopbrick {

/// The OpenMP settings of a measuring process, as NAME=VALUE: this many threads, one a core, kept
/// there, spinning over short gaps. Without a permitted pinning the OMP_PLACES are left out.
std::vector<std::string> openmp_environment(int threads, const std::string& root = "/");

/// The CPUs that each OpenMP thread may run on, read back from the kernel: "0 1" for two pinned
/// threads, "0-1 0-1" for two free ones.
std::string pinning(int threads);

/// Makes each OpenMP thread treat denormals as zero (FTZ and DAZ of MXCSR), or not.
void set_flush_denormals(int threads, bool on);

/// Keeps each OpenMP thread on a core of its own and gives the old affinity back at the end.
/// Threads that are pinned already stay where they are.
class PinnedThreads {
 public:
  explicit PinnedThreads(int threads);
  ~PinnedThreads();
  PinnedThreads(const PinnedThreads&) = delete;
  PinnedThreads& operator=(const PinnedThreads&) = delete;

 private:
  std::vector<cpu_set_t> before_;  ///< one a thread; empty if nothing was changed
};

}  // namespace loopbrick
