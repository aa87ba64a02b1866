#pragma once
#include <string>

#include "measure/machine.h"

namespace loopbrick {

/// What stands in the way of trusting numbers measured with `limits.threads` threads here and now.
///
/// A noise floor of 0 in `limits` counts as not measured and is not judged.
Trust assess(const Machine& machine, const Limits& limits, const std::string& root = "/");

}  // namespace loopbrick
