#pragma once
#include <atomic>
#include <exception>

namespace loopbrick {

/// Thrown where a wait was ended by the user.
struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted; nothing was measured"; }
};

/// True once the user asked to stop (SIGINT or SIGTERM). The first call installs the handlers; a
/// second signal then ends the program at once.
const std::atomic<bool>& interrupted();

}  // namespace loopbrick
