#pragma once
#include <vector>

#include "cli/sides.h"
#include "results/store.h"

namespace loopbrick {

/// A row for each cost, a column for each side, and where there are two the second over the first.
/// A cell whose cost is not known says why.
///
/// Units  FLOPs, calls, barriers, bytes, seconds and events of one run, over all threads.
Table side_by_side(const std::vector<Side>& sides);

}  // namespace loopbrick
