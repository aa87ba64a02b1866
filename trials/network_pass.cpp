#include "trials/network_pass.h"

#include <fmt/format.h>

namespace loopbrick {
namespace {

/// Operands of one problem in plain layout, filled.
struct PlainOperands {
  PlainOperands(const Problem& problem, std::uint64_t seed) {
    for (const Operand& operand : operands(problem)) {
      memory.emplace_back(static_cast<std::size_t>(elements(operand)));
      arrays.emplace_back(memory.back());
    }
    fill(problem, Fill::uniform, seed, arrays);
  }

  std::deque<std::vector<float>> memory;
  Arrays arrays;
};

/// Cold runnables share no operands with others of their problem.
Conditions with_own_operands(Conditions conditions) {
  conditions.cache = CacheState::cold;
  return conditions;
}

}  // namespace

NetworkPass::NetworkPass(const Network& network, const NetworkArms& arms, int index,
                         const Find& find, const Announce& announce) {
  for (std::size_t i = 0; i < network.layers.size(); ++i) {
    const NetworkLayer& layer = network.layers[i];
    Part& part = parts_.emplace_back(Contestant(arms.at(i), index, find, announce), layer.count);
    try {
      part.contestant.prepare(layer.problem, with_own_operands(network.conditions),
                              static_cast<int>(layer.count));
      part.contestant.load(PlainOperands(layer.problem, network.seed + i).arrays);
    } catch (const Failed& failed) {
      throw Failed{failed.outcome, fmt::format("{}: {}", layer.label, failed.reason)};
    }
  }
}

void NetworkPass::run() {
  for (Part& part : parts_) {
    for (std::int64_t i = 0; i < part.count; ++i) part.contestant.call();
  }
}

}  // namespace loopbrick
