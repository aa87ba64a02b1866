#include "trials/channel.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>
#include <system_error>

namespace loopbrick {
namespace {

/// Milliseconds for poll, rounded up so that it never spins; -1 waits for ever.
int milliseconds_until(std::optional<Channel::Deadline> deadline) {
  if (!deadline) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(*deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000'000));
}

/// True when there is something to read (the end counts), false when the deadline has passed.
bool wait_readable(int socket, std::optional<Channel::Deadline> deadline) {
  while (true) {
    pollfd waiting{.fd = socket, .events = POLLIN, .revents = 0};
    const int timeout = milliseconds_until(deadline);
    const int ready = poll(&waiting, 1, timeout);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "waiting for the worker");
    }
    if (ready == 0 && milliseconds_until(deadline) == 0) return false;
  }
}

}  // namespace

bool Channel::send(const Message& message) {
  const std::string line = encode(message) + '\n';
  std::size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t count =
        ::send(socket_.get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

bool Channel::take_line(Message& message) {
  const std::size_t end = unread_.find('\n');
  if (end == std::string::npos) return false;
  message = decode(std::string_view(unread_).substr(0, end));
  unread_.erase(0, end + 1);
  return true;
}

Channel::Got Channel::receive(Message& message, std::optional<Deadline> deadline) {
  std::array<char, 65536> buffer;
  while (!take_line(message)) {
    if (!wait_readable(socket_.get(), deadline)) return Got::late;
    const ssize_t count = recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Got::closed;  // a worker that was killed resets the connection
    unread_.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return Got::message;
}

}  // namespace loopbrick
