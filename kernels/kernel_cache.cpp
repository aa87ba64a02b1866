#include "kernels/kernel_cache.h"

namespace loopbrick {

std::shared_ptr<const BrgemmKernel> KernelCache::get(const BrgemmSpec& spec) {
  const std::string key = to_string(spec);
  const std::lock_guard lock(mutex_);
  if (const auto found = kernels_.find(key); found != kernels_.end()) return found->second;
  return kernels_.emplace(key, std::make_shared<const BrgemmKernel>(spec)).first->second;
}

int KernelCache::size() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(kernels_.size());
}

}  // namespace loopbrick
