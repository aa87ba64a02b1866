#pragma once
#include <functional>
#include <string>

namespace loopbrick {

/// The lock that lets one measurement at a time run on a machine, whoever starts it.
///
/// Held until destroyed; the kernel releases it when the process dies in any way. Processes started
/// meanwhile do not inherit it.
///
/// Errors   the constructor throws std::system_error when the file cannot be made or opened, and
///          whatever `waiting` throws, which is how to stop waiting.
/// Threads  one object per holder; two objects of one process exclude each other, too.
class MachineLock {
 public:
  /// Waits until the lock is free; `waiting` is called every tenth of a second meanwhile.
  explicit MachineLock(const std::function<void()>& waiting, std::string path = default_path());
  ~MachineLock();
  MachineLock(MachineLock&& other) noexcept;
  MachineLock& operator=(MachineLock&& other) noexcept;

  const std::string& path() const noexcept { return path_; }

  /// "loopbrick.lock" in /run/lock if anybody may write there, else in /tmp: the same for all
  /// users.
  static std::string default_path();

 private:
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace loopbrick
