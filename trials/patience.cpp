#include "trials/patience.h"

#include <algorithm>
#include <chrono>

#include "trials/bench.h"

namespace loopbrick {

namespace {

constexpr double kPiece = 0.5;     ///< seconds between two looks at the stop
constexpr double kPatience = 3.0;  ///< seconds for the running trial to end

}  // namespace

Channel::Deadline deadline_in(double seconds) {
  constexpr double kForever = 1e8;
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::duration<double>(std::min(seconds, kForever)));
}

Channel::Got Patience::receive(Channel& channel, Message& message, Channel::Deadline deadline) {
  while (true) {
    leave_if_stopped();
    const Channel::Deadline piece =
        stop_ == nullptr ? deadline : std::min(deadline, deadline_in(kPiece));
    const Channel::Got got = channel.receive(message, piece);
    if (got != Channel::Got::late || piece == deadline) return got;
  }
}

void Patience::leave_if_stopped() {
  if (stop_ == nullptr || !stop_->load()) return;
  if (!give_up_) give_up_ = deadline_in(kPatience);
  if (std::chrono::steady_clock::now() >= *give_up_) throw Stopped();
}

}  // namespace loopbrick
