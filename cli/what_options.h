#pragma once
#include <string>
#include <vector>

#include "problems/conditions.h"
#include "problems/what.h"
#include "tuner/tune.h"

namespace loopbrick {

class Command;

/// WHAT a command works on, as typed: problems, suites or batch files, and the conditions.
struct WhatOptions {
  WhatRequest request;  ///< its texts are words: a problem may come in as many as the user liked
  std::string threads;  ///< empty: as many as may run here
  std::string isas;     ///< empty: the best that the CPU has
  std::string caches = "warm";
  bool transposes_once = false;
};

void add_what_options(Command& command, WhatOptions& options);

/// What to work on under one set of conditions.
struct Work {
  Conditions conditions;
  What what;
};

std::vector<Layer> layers_of(const What& what);

/// One Work for every combination of threads, ISA and cache state.
///
/// Errors  throws ParseError that names the bad piece: an unknown suite, a malformed problem, an
///         ISA that the CPU lacks, nothing to work on.
std::vector<Work> expand(const WhatOptions& options);

/// The one problem and conditions of a command that takes no lists.
struct OneProblem {
  Conditions conditions;
  NamedProblem named;
};

/// Errors  throws ParseError, also where there is more than one.
OneProblem expand_one(const WhatOptions& options);

}  // namespace loopbrick
