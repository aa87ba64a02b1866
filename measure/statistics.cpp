#include "measure/statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <random>

namespace loopbrick {
namespace {

/// 2000: the 0.5 % tail of the resampled medians then rests on ten of them.
constexpr int kResamples = 2000;

double median_of_resample(std::span<const double> values, std::mt19937_64& random) {
  std::vector<double> drawn(values.size());
  for (double& value : drawn) value = values[random() % values.size()];
  return median(std::move(drawn));
}

std::vector<double> log_ratios(std::span<const double> a, std::span<const double> b) {
  std::vector<double> logs(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) logs[i] = std::log(a[i] / b[i]);
  return logs;
}

}  // namespace

double quantile(std::vector<double> values, double fraction) {
  assert(!values.empty());
  const double place = fraction * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(values.begin(), at, values.end());
  if (below + 1 == values.size()) return *at;
  const double above = *std::min_element(at + 1, values.end());
  return *at + (place - static_cast<double>(below)) * (above - *at);
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

Interval bootstrap_median(std::span<const double> values, double level, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> medians(kResamples);
  for (double& one : medians) one = median_of_resample(values, random);
  const double tail = (1.0 - level) / 2.0;
  return {.lo = quantile(medians, tail), .hi = quantile(medians, 1.0 - tail)};
}

Ratio ratio_over_rounds(std::span<const double> a, std::span<const double> b, double level,
                        std::uint64_t seed) {
  assert(a.size() == b.size() && !a.empty());
  const std::vector<double> logs = log_ratios(a, b);
  const Interval interval = bootstrap_median(logs, level, seed);
  return {.value = std::exp(median(logs)),
          .interval = {.lo = std::exp(interval.lo), .hi = std::exp(interval.hi)},
          .rounds = static_cast<int>(a.size())};
}

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::same:
      return "SAME";
    case Verdict::faster:
      return "FASTER";
    case Verdict::slower:
      return "SLOWER";
    default:
      return "AMBIGUOUS";
  }
}

Verdict verdict(const Ratio& ratio, double noise_floor) {
  constexpr double kTooSmallToMatter = 0.01;
  constexpr double kTooNoisyToTell = 0.1;
  const double margin = std::max(kTooSmallToMatter, noise_floor);
  const Interval& interval = ratio.interval;
  const bool is_within = interval.lo >= 1.0 - margin && interval.hi <= 1.0 + margin;
  if (is_within && margin <= kTooNoisyToTell) return Verdict::same;
  if (interval.hi < 1.0 - margin) return Verdict::faster;
  if (interval.lo > 1.0 + margin) return Verdict::slower;
  return Verdict::ambiguous;
}

}  // namespace loopbrick
