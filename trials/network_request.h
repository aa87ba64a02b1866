#pragma once
#include <vector>

#include "trials/message.h"
#include "trials/network.h"

namespace loopbrick {

/// What the client of a network asks of a worker, before any other request.
struct NetworkRequest {
  Network network;
  std::vector<NetworkArms> ways;
  RoundShare share;
};

/// As a message, and back: read_network inverts network_request.
Message network_request(const NetworkRequest& request);
NetworkRequest read_network(const Message& message);

}  // namespace loopbrick
