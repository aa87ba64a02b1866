#pragma once
#include <deque>

#include "trials/contestant.h"
#include "trials/network.h"

namespace loopbrick {

/// One way to run a network, made ready: a contestant for each layer, with a set of buffers for
/// each of its runs.
///
/// Errors  the constructor throws Failed that names the layer when one of its arms does.
class NetworkPass {
 public:
  NetworkPass(const Network& network, const NetworkArms& arms, int index, const Find& find,
              const Announce& announce);

  void run();  ///< every layer, as often as it counts

 private:
  struct Part {
    Contestant contestant;
    std::int64_t count;
  };
  std::deque<Part> parts_;
};

}  // namespace loopbrick
