#pragma once
#include <span>
#include <string_view>

#include "problems/implementation.h"

namespace loopbrick {

/// Everybody who can run a problem: our loops, the baselines of this build, and the control
/// "slowed". The first call loads the baselines' libraries.
///
/// Threads  may be called at once.
std::span<const Implementation> implementations();

/// The row of that name, or nullptr. Asked for our own loops it loads no baseline.
const Implementation* find_implementation(std::string_view name);

}  // namespace loopbrick
