#pragma once
#include <string>

#include "problems/conditions.h"
#include "problems/problem.h"

namespace loopbrick {

/// A schedule and where it comes from.
struct ChosenSchedule {
  std::string schedule;
  std::string origin;    ///< "given", "wisdom", "wisdom of <where it was measured>", "model"
  double seconds = 0.0;  ///< that are known of it; 0: nothing
};

/// `given`, else the best advice of the file `wisdom`, else the model's first choice; texts that
/// are empty don't count.
///
/// Errors  throws ParseError, also where no schedule can run the problem.
ChosenSchedule choose_schedule(const Problem& problem, const Conditions& conditions,
                               const std::string& given, const std::string& wisdom);

}  // namespace loopbrick
