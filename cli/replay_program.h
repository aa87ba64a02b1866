#pragma once
#include <string>

#include "results/trial.h"

namespace loopbrick {

/// A C++17 program against the installed library that runs the trial's problem by its schedule and
/// prints the time beside the stored one.
///
/// Errors  throws ParseError for a trial that is not ours, has no time, or whose conditions the
///         library can't make.
std::string replay_program(const TrialRecord& trial);

}  // namespace loopbrick
