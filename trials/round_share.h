#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "trials/examiner.h"

namespace loopbrick {

// What clients of workers have in common that measure in rounds.

/// Rounds of process number `process` of all.
RoundShare share_of(const RoundPlan& plan, int process);

/// Adds what one process found out about an arm to what the earlier ones did.
void merge(Attempt&& part, Attempt& whole);

/// The numbers below `count` in the random order of one round.
std::vector<std::size_t> order_of_round(std::size_t count, std::uint64_t seed, int round);

/// What the environment of a worker says of the conditions.
std::vector<std::string> settings_for(const Conditions& conditions);

}  // namespace loopbrick
