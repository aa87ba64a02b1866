#include "loops/buffer_pool.h"

#include <algorithm>

namespace loopbrick {

namespace {

constexpr std::size_t kMostKept = 4;  // the operands of one problem

}  // namespace

GuardedBuffer BufferPool::take(std::int64_t bytes, Pages pages) {
  const std::lock_guard lock(mutex_);
  const auto fits = std::find_if(kept_.begin(), kept_.end(), [&](const Kept& kept) {
    return kept.pages == pages && static_cast<std::int64_t>(kept.buffer.bytes().size()) == bytes;
  });
  if (fits == kept_.end()) return GuardedBuffer(bytes, pages);
  GuardedBuffer buffer = std::move(fits->buffer);
  kept_.erase(fits);
  return buffer;
}

void BufferPool::give(GuardedBuffer buffer, Pages pages) {
  const std::lock_guard lock(mutex_);
  if (kept_.size() == kMostKept) kept_.erase(kept_.begin());
  kept_.push_back({std::move(buffer), pages});
}

}  // namespace loopbrick
