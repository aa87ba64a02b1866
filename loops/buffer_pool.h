#pragma once
#include <cstdint>
#include <mutex>
#include <vector>

#include "loops/guarded_buffer.h"

namespace loopbrick {

/// Keeps the last few buffers that were given back: candidates of one search want the same sizes
/// again and again, and fresh pages cost more than most candidates' runs.
///
/// Errors   take throws std::bad_alloc.
/// Threads  take and give may be called at once.
class BufferPool {
 public:
  /// A buffer of exactly this size; its bytes are zero or left over from its last use.
  GuardedBuffer take(std::int64_t bytes, Pages pages);
  void give(GuardedBuffer buffer, Pages pages);

 private:
  struct Kept {
    GuardedBuffer buffer;
    Pages pages;
  };
  std::mutex mutex_;
  std::vector<Kept> kept_;  ///< oldest first
};

}  // namespace loopbrick
