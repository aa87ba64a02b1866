#pragma once
#include <chrono>
#include <functional>
#include <vector>

namespace loopbrick {

using Clock = std::function<std::chrono::nanoseconds()>;

/// The steady clock, since boot.
std::chrono::nanoseconds steady_now();

/// Back-to-back calls that were timed together.
struct Stretch {
  double start = 0.0;  ///< seconds on the clock
  double seconds_per_call = 0.0;
  int calls = 1;
};

/// Times `calls` calls of `run` in a row; once more if the clock went back meanwhile.
///
/// Errors  throws std::runtime_error if it does so again and again, and whatever `run` throws.
Stretch time_calls(const std::function<void()>& run, int calls, const Clock& now = steady_now);

/// Calls that last at least `sample_seconds` when one lasts `seconds_per_call`: at least 1.
int calls_for(double seconds_per_call, double sample_seconds);

/// How much to measure.
struct SamplerOptions {
  int least_calls = 3;           ///< timed one by one first
  int samples = 9;               ///< then, if the fastest is worth it
  double sample_seconds = 1e-3;  ///< each lasts at least this long
  double give_up_above = 1e300;  ///< seconds a call
};

/// Screens `run` with single calls; if the fastest of them is not above give_up_above, measures it
/// in samples of many calls and returns these. Otherwise returns the single calls.
///
/// Needs   a warmed-up `run`; least_calls of at least 1.
/// Errors  whatever `run` throws passes through.
std::vector<Stretch> measure(const std::function<void()>& run, const SamplerOptions& options,
                             const Clock& now = steady_now);

}  // namespace loopbrick
