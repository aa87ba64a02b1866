#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace loopbrick {

struct Interval {
  double lo = 0.0;
  double hi = 0.0;
};

/// The value below which `fraction` of the values lie, interpolated; 0.5 is the median.
///
/// Needs  at least one value (asserted).
double quantile(std::vector<double> values, double fraction);
double median(std::vector<double> values);

/// Bootstrap interval (percentile, `level` 0.99) of the median of `values`; deterministic by
/// `seed`.
///
/// Needs  at least one value.
Interval bootstrap_median(std::span<const double> values, double level, std::uint64_t seed);

/// A ratio of times with its interval: the median over rounds of log(a[i] / b[i]), bootstrapped
/// over rounds.
///
/// The median and not the mean: on invented noise with one stolen time slice in twenty samples, 15
/// rounds of an arm against itself are called SAME 95 times in 100 by the median and 42 times by
/// the mean.
struct Ratio {
  double value = 1.0;
  Interval interval{1.0, 1.0};
  int rounds = 0;
};

/// Needs  as many values in `a` as in `b`, at least one (asserted).
Ratio ratio_over_rounds(std::span<const double> a, std::span<const double> b, double level,
                        std::uint64_t seed);

enum class Verdict { same, faster, slower, ambiguous };
std::string_view to_string(Verdict verdict);  ///< SAME FASTER SLOWER AMBIGUOUS

/// Of a ratio time_a / time_b: is a SAME as b (interval within 1 +- max(1 %, noise floor), with a
/// noise floor of at most 10 %), FASTER or SLOWER (interval wholly outside on one side), or
/// AMBIGUOUS?
Verdict verdict(const Ratio& ratio, double noise_floor);

}  // namespace loopbrick
