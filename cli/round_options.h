#pragma once
#include <cstdint>

#include "trials/bench.h"

namespace loopbrick {

class Command;

/// How a command measures in rounds.
struct RoundOptions {
  int rounds = 60;
  int processes = 3;
  double sample_ms = 2.5;
};

void add_round_options(Command& command, RoundOptions& options);

/// Stopped by the user between two processes (cli/interrupt.h).
RoundPlan plan_of(const RoundOptions& options, std::uint64_t seed);

}  // namespace loopbrick
