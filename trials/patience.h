#pragma once
#include <atomic>
#include <optional>

#include "trials/channel.h"

namespace loopbrick {

/// A time from now; what would overflow the clock is three years.
Channel::Deadline deadline_in(double seconds);

/// Waits for a worker's answers, but not for long once the user wants to stop.
class Patience {
 public:
  /// `stop` must outlive it; without one there is nothing to see.
  explicit Patience(const std::atomic<bool>* stop) : stop_(stop) {}

  /// As Channel::receive.
  ///
  /// Errors  throws Stopped (trials/bench.h) three seconds after it first saw a stop, over all
  /// calls.
  Channel::Got receive(Channel& channel, Message& message, Channel::Deadline deadline);

 private:
  void leave_if_stopped();

  const std::atomic<bool>* stop_;
  std::optional<Channel::Deadline> give_up_;  ///< set once a stop was seen
};

}  // namespace loopbrick
