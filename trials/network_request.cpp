#include "trials/network_request.h"

#include "trials/request.h"

namespace loopbrick {

Message network_request(const NetworkRequest& request) {
  const Network& network = request.network;
  Message message{.verb = "network",
                  .fields = {to_string(network.conditions), seed_text(network.seed)}};
  add_share(message, request.share);
  message.fields.push_back(std::to_string(network.layers.size()));
  for (const NetworkLayer& layer : network.layers) {
    message.fields.insert(message.fields.end(),
                          {layer.label, to_string(layer.problem), std::to_string(layer.count)});
  }
  for (const NetworkArms& arms : request.ways) {
    for (const Arm& arm : arms) add_arm(message, arm);
  }
  return message;
}

NetworkRequest read_network(const Message& message) {
  Fields fields(message);
  NetworkRequest request;
  Network& network = request.network;
  network.conditions = parse_conditions(fields.text());
  network.seed = read_seed(fields);
  request.share = read_share(fields);
  const std::int64_t layers = fields.count();
  for (std::int64_t i = 0; i < layers; ++i) {
    NetworkLayer layer;
    layer.label = fields.text();
    layer.problem = parse_problem(fields.text());
    layer.count = fields.count();
    network.layers.push_back(layer);
  }
  while (!fields.empty()) {
    NetworkArms& arms = request.ways.emplace_back();
    for (std::int64_t i = 0; i < layers; ++i) arms.push_back(read_arm(fields));
  }
  return request;
}

}  // namespace loopbrick
