#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "kernels/brgemm_kernel.h"

namespace loopbrick {

/// Kernels by spec, each generated once. Kernels live as long as anybody holds them.
///
/// Errors   what BrgemmKernel's constructor throws.
/// Threads  get may be called at once.
class KernelCache {
 public:
  std::shared_ptr<const BrgemmKernel> get(const BrgemmSpec& spec);
  int size() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const BrgemmKernel>> kernels_;
};

}  // namespace loopbrick
