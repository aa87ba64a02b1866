#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "problems/conditions.h"

namespace loopbrick {

/// Memory for one operand: 64-byte aligned, zeroed, with an unreadable page behind its last byte
/// (but for up to 63 bytes of alignment), so that a kernel that runs over its operand does not go
/// unseen.
///
/// Errors  the constructor throws std::bad_alloc.
class GuardedBuffer {
 public:
  GuardedBuffer() = default;
  GuardedBuffer(std::int64_t bytes, Pages pages);
  ~GuardedBuffer();
  GuardedBuffer(GuardedBuffer&& other) noexcept;
  GuardedBuffer& operator=(GuardedBuffer&& other) noexcept;

  void* data() const { return data_; }
  std::span<float> floats() const { return {static_cast<float*>(data_), bytes_ / sizeof(float)}; }
  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(data_), bytes_}; }

 private:
  void* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace loopbrick
