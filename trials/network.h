#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trials/bench.h"
#include "trials/examiner.h"

namespace loopbrick {

/// A problem that a pass over a network runs `count` times in a row, each time on operands of its
/// own.
struct NetworkLayer {
  std::string label;
  Problem problem;
  std::int64_t count = 1;
};

struct Network {
  std::vector<NetworkLayer> layers;  ///< in the order in which they run
  Conditions conditions;  ///< but for the cache: a layer finds what those before it have left
  std::uint64_t seed = 1;
};

/// One way to run a network: an arm for each layer.
using NetworkArms = std::vector<Arm>;

/// Times whole passes over the network, interleaved in rounds over fresh workers as Bench::rounds
/// does: the seconds of a sample are those of one pass. All layers of all ways are prepared and
/// loaded once in each worker.
///
/// Nothing is checked here: Bench::check comes first, for each layer.
/// Errors  throws NoMemory when the operands of all ways do not fit, std::runtime_error when a
///         worker is lost. A way with an arm that refuses has the outcome and reason of that arm.
Rounds time_network(const Network& network, std::span<const NetworkArms> ways,
                    const RoundPlan& plan, const BenchOptions& options);

/// One process's share of that, in this process: what a worker does.
Rounds time_network_here(const Network& network, std::span<const NetworkArms> ways,
                         const RoundShare& share, const Find& find, const Announce& announce);

}  // namespace loopbrick
