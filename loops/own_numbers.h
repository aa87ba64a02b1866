#pragma once
#include <omp.h>

namespace loopbrick {

/// The thread numbers whose work this OpenMP thread does: its own, and others' where OpenMP gave
/// fewer threads than asked for. Between two barriers every thread goes through all of them.
class OwnNumbers {
 public:
  explicit OwnNumbers(int threads)
      : first_(omp_get_thread_num()), stride_(omp_get_num_threads()), threads_(threads) {}

  template <typename Work>
  void each(const Work& work) const {
    for (int number = first_; number < threads_; number += stride_) work(number);
  }

 private:
  int first_, stride_, threads_;
};

}  // namespace loopbrick
