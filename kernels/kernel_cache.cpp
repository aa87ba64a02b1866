#include "kernels/kernel_cache.h"

namespace loopbrick {

std::shared_ptr<const BrgemmKernel> KernelCache::get(const BrgemmSpec& spec) {
  const std::string key = to_string(spec);
  const std::lock_guard lock(mutex_);
  auto& kernel = kernels_[key];
  if (!kernel) kernel = std::make_shared<const BrgemmKernel>(spec);
  return kernel;
}

int KernelCache::size() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(kernels_.size());
}

}  // namespace loopbrick
