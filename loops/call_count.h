#pragma once
#include <cstdint>

#include "loops/contraction.h"
#include "loops/schedule.h"

namespace loopbrick {

/// Rounds that reach the kernel call of a step; INT64_MAX where they are more.
std::int64_t count_calls(const Contraction& contraction, const Step& step);

}  // namespace loopbrick
