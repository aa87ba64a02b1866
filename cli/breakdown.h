#pragma once
#include <string>

#include "cli/explanation.h"

namespace loopbrick {

/// Runs an LSTM, after its result was compared with the reference, and says what share of its
/// threads' time the products, the element-wise part, the transposition of weights and waiting for
/// each other take. The clock is read twice around every kernel call or tile.
///
/// Needs   the problem is an LSTM.
/// Errors  throws std::invalid_argument if the schedule cannot run it, std::runtime_error if the
/// result is wrong.
std::string breakdown(const ExplainedRun& run);

}  // namespace loopbrick
