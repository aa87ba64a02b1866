#pragma once
#include <string>
#include <string_view>

#include "measure/sampler.h"
#include "problems/implementation.h"

namespace loopbrick {

/// What the control "slowed" runs and how much longer it takes.
///
/// Text  "3% loopbrick N k64 p q14 @ c64 * c r s": the slow-down, an implementation, its choice.
struct SlowedChoice {
  double fraction = 0.0;
  std::string implementation;
  std::string choice;
};

/// Errors  throws ParseError unless the text starts with a percentage and an implementation.
SlowedChoice parse_slowed_choice(std::string_view text);

/// The same, but every run then waits busily for `fraction` of the time that it took.
Runnable slow_down(Runnable runnable, double fraction, Clock now = steady_now);

}  // namespace loopbrick
