#pragma once
#include <chrono>
#include <optional>
#include <string>

#include "trials/file_descriptor.h"
#include "trials/message.h"

namespace loopbrick {

/// Messages over a connected stream socket.
///
/// Errors   receive throws std::system_error when the socket itself fails.
/// Threads  one.
class Channel {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  explicit Channel(FileDescriptor socket) : socket_(std::move(socket)) {}

  /// False if the other side is gone.
  bool send(const Message& message);

  enum class Got { message, closed, late };

  /// Waits for one message, through signals, at most until the deadline (none: for ever).
  Got receive(Message& message, std::optional<Deadline> deadline = std::nullopt);

 private:
  bool take_line(Message& message);

  FileDescriptor socket_;
  std::string unread_;
};

}  // namespace loopbrick
