#pragma once
#include <cstdint>
#include <memory>

#include "problems/conditions.h"

namespace loopbrick {

/// Zeroed memory of a baseline, which begins on a page of the size that the Conditions ask for.
///
/// Errors  the constructor throws std::bad_alloc.
class Buffer {
 public:
  Buffer() = default;
  Buffer(std::int64_t floats, Pages pages);

  float* data() const { return memory_.get(); }
  std::int64_t size_bytes() const { return size_bytes_; }

 private:
  struct Free {
    void operator()(float* memory) const noexcept;
  };
  std::unique_ptr<float, Free> memory_;
  std::int64_t size_bytes_ = 0;
};

}  // namespace loopbrick
