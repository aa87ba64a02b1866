#pragma once
#include <unistd.h>
#include <utility>

namespace loopbrick {

/// Owns a file descriptor; -1 is none.
class FileDescriptor {
 public:
  explicit FileDescriptor(int number = -1) noexcept : number_(number) {}
  ~FileDescriptor() { reset(); }
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  int get() const noexcept { return number_; }
  void reset() noexcept {
    if (number_ >= 0) close(std::exchange(number_, -1));
  }

 private:
  int number_;
};

}  // namespace loopbrick
