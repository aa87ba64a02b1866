#pragma once
#include <optional>

#include "problems/problem.h"

namespace loopbrick {

/// The problem that candidates of a large one are screened on: the same layer of an LSTM with 3
/// time steps. Nothing where a run is below 20 GFLOP or there is nothing to cut.
std::optional<Problem> cut_problem(const Problem& problem);

}  // namespace loopbrick
