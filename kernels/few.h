#pragma once
#include <array>
#include <cassert>
#include <initializer_list>

namespace loopbrick {

/// A list of at most `Capacity` values, stored inline: copying and comparing it touches no heap.
///
/// Needs  the caller keeps within Capacity (asserted); parsers check first and refuse with a
/// message.
template <typename T, int Capacity>
class Few {
 public:
  constexpr Few() = default;
  constexpr Few(std::initializer_list<T> values) {
    for (const T& value : values) push_back(value);
  }

  constexpr void push_back(const T& value) {
    assert(size_ < Capacity);
    values_[static_cast<std::size_t>(size_++)] = value;
  }
  constexpr void pop_back() {
    assert(size_ > 0);
    values_[static_cast<std::size_t>(--size_)] = T{};
  }
  constexpr void clear() { *this = Few{}; }

  static constexpr int capacity() { return Capacity; }
  constexpr int size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr bool full() const { return size_ == Capacity; }

  constexpr T& operator[](int i) { return values_[static_cast<std::size_t>(i)]; }
  constexpr const T& operator[](int i) const { return values_[static_cast<std::size_t>(i)]; }
  constexpr T& back() { return (*this)[size_ - 1]; }
  constexpr const T& back() const { return (*this)[size_ - 1]; }

  constexpr T* begin() { return values_.data(); }
  constexpr T* end() { return values_.data() + size_; }
  constexpr const T* begin() const { return values_.data(); }
  constexpr const T* end() const { return values_.data() + size_; }

  friend constexpr bool operator==(const Few& left, const Few& right) {
    if (left.size_ != right.size_) return false;
    for (int i = 0; i < left.size_; ++i) {
      if (!(left[i] == right[i])) return false;
    }
    return true;
  }

 private:
  std::array<T, Capacity> values_{};
  int size_ = 0;
};

}  // namespace loopbrick
