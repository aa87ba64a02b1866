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

  /// Without, a write to the buffer raises SIGSEGV.
  ///
  /// Errors  throws std::bad_alloc when the system refuses.
  void allow_writes(bool allowed);

  void* data() const { return data_; }
  std::span<float> floats() const { return {static_cast<float*>(data_), bytes_ / sizeof(float)}; }
  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(data_), bytes_}; }

 private:
  void* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  std::span<std::byte> pages_;  ///< those that hold the bytes
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace loopbrick
