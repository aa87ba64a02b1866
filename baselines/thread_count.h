#pragma once
#include <omp.h>

namespace loopbrick {

/// While it lives, the next parallel regions of the calling thread have `threads` threads. For
/// libraries that ask OpenMP and have no such parameter.
class ThreadCount {
 public:
  explicit ThreadCount(int threads) : before_(omp_get_max_threads()) {
    omp_set_num_threads(threads);
  }
  ~ThreadCount() { omp_set_num_threads(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

}  // namespace loopbrick
