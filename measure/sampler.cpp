#include "measure/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace loopbrick {
namespace {

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

double fastest(const std::vector<Stretch>& stretches) {
  double least = std::numeric_limits<double>::infinity();
  for (const Stretch& stretch : stretches) least = std::min(least, stretch.seconds_per_call);
  return least;
}

std::vector<Stretch> time_stretches(const std::function<void()>& run, int count, int calls,
                                    const Clock& now) {
  std::vector<Stretch> stretches;
  for (int i = 0; i < count; ++i) stretches.push_back(time_calls(run, calls, now));
  return stretches;
}

}  // namespace

std::chrono::nanoseconds steady_now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

Stretch time_calls(const std::function<void()>& run, int calls, const Clock& now) {
  constexpr int kAttempts = 3;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::chrono::nanoseconds start = now();
    for (int call = 0; call < calls; ++call) run();
    const std::chrono::nanoseconds end = now();
    if (end < start) continue;
    return {
        .start = seconds(start), .seconds_per_call = seconds(end - start) / calls, .calls = calls};
  }
  throw std::runtime_error("the clock of this machine runs backwards");
}

int calls_for(double seconds_per_call, double sample_seconds) {
  constexpr double kMostCalls = 1e6;  // an empty run must end
  const double shortest = sample_seconds / kMostCalls;
  return std::max(
      1, static_cast<int>(std::ceil(sample_seconds / std::max(seconds_per_call, shortest))));
}

std::vector<Stretch> measure(const std::function<void()>& run, const SamplerOptions& options,
                             const Clock& now) {
  std::vector<Stretch> singles = time_stretches(run, std::max(1, options.least_calls), 1, now);
  const double best = fastest(singles);
  if (options.samples < 1 || best > options.give_up_above) return singles;
  return time_stretches(run, options.samples, calls_for(best, options.sample_seconds), now);
}

}  // namespace loopbrick
