#pragma once
#include "trials/bench.h"

namespace CLI {
class App;
}

namespace loopbrick {

/// --rounds, --processes and --sample-ms; the seed is set by the command.
void add_round_options(CLI::App& command, RoundPlan& plan);

}  // namespace loopbrick
