#pragma once
#include <string>

#include "results/trial.h"

namespace loopbrick {

/// Version, commit, compiler and kind of this build, as they stand in every trial.
BuildRecord build_facts();

/// "loopbrick 0.1.0 abc1234 g++-12.2.0 release gen1".
std::string version_line();

}  // namespace loopbrick
