#include "cli/round_options.h"

#include "cli/command_line.h"
#include "cli/interrupt.h"

namespace loopbrick {

void add_round_options(Command& command, RoundOptions& options) {
  command.add({"--rounds", "Samples of every implementation", "N"}, options.rounds, {3, 10000});
  command.add({"--processes", "Fresh processes to spread the rounds over", "N"}, options.processes,
              {1, 1000});
  command.add({"--sample-ms", "Length of one sample", "MS"}, options.sample_ms, {0.01, 60000});
}

RoundPlan plan_of(const RoundOptions& options, std::uint64_t seed) {
  return {.rounds = options.rounds,
          .processes = options.processes,
          .sample_seconds = options.sample_ms * 1e-3,
          .seed = seed,
          .stop = &interrupted()};
}

}  // namespace loopbrick
