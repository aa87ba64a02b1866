#pragma once
#include <cstddef>
#include <span>

namespace loopbrick {

/// Floats between two unreadable pages: one element read or written too far stops the test instead
/// of passing by luck.
class GuardedFloats {
 public:
  /// The side on which the values touch the unreadable page. A buffer that must be aligned to whole
  /// pages, or whose front matters most, lies at the front.
  enum class Flush { front, back };

  explicit GuardedFloats(std::size_t count, Flush flush = Flush::back);
  ~GuardedFloats();
  GuardedFloats(GuardedFloats&& other) noexcept;
  GuardedFloats& operator=(GuardedFloats&& other) noexcept;

  float* data() const noexcept { return values_.data(); }
  std::size_t size() const noexcept { return values_.size(); }
  std::span<float> values() const noexcept { return values_; }

  /// From now on a write stops the test too.
  void make_read_only();

 private:
  std::span<std::byte> pages_;
  std::span<float> values_;
};

}  // namespace loopbrick
