#pragma once
#include <string>

#include "loops/contraction.h"
#include "loops/schedule.h"

namespace loopbrick {

/// The schedule as an indented nest of loops with their bounds, for reading.
std::string nest_text(const Contraction& contraction, const Schedule& schedule);

}  // namespace loopbrick
