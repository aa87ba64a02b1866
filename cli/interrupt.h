#pragma once
#include <atomic>
#include <exception>

namespace loopbrick {

/// Thrown where a wait was ended by the user.
struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted; nothing was measured"; }
};

/// From now on SIGINT, SIGTERM and (unless nohup had it ignored) SIGHUP ask to stop; a second
/// signal of the kind ends the program at once. Later calls do nothing.
void watch_for_interrupts();

/// True once the user asked to stop. Needs watch_for_interrupts before.
const std::atomic<bool>& interrupted();

}  // namespace loopbrick
