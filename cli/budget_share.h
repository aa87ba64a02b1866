#pragma once
#include <chrono>

#include "tuner/budget.h"

namespace loopbrick {

/// What each of the `parts` still to come may spend of a whole command's budget: an equal share of
/// the trials, and of the seconds that `spent` leaves. A limit that is used up leaves the
/// least that is still a limit, one trial or a millisecond.
///
/// Needs  at least one part (asserted).
Budget share_of(const Budget& whole, std::chrono::duration<double> spent, int parts);

}  // namespace loopbrick
