#include "measure/statistics.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace loopbrick {
namespace {

TEST(Quantile, InterpolatesBetweenSortedValues) {
  EXPECT_DOUBLE_EQ(quantile({4.0, 1.0, 3.0, 2.0}, 0.5), 2.5);
  EXPECT_DOUBLE_EQ(quantile({4.0, 1.0, 3.0, 2.0}, 0.0), 1.0);
  EXPECT_DOUBLE_EQ(quantile({4.0, 1.0, 3.0, 2.0}, 1.0), 4.0);
  EXPECT_DOUBLE_EQ(quantile({30.0, 10.0, 20.0}, 0.25), 15.0);
  EXPECT_DOUBLE_EQ(median({7.0}), 7.0);
  EXPECT_DOUBLE_EQ(median({9.0, 1.0, 5.0}), 5.0);
}

TEST(BootstrapMedian, EqualValuesHaveNoWidth) {
  const std::array values{3.0, 3.0, 3.0};
  const Interval interval = bootstrap_median(values, 0.99, 1);
  EXPECT_EQ(interval.lo, 3.0);
  EXPECT_EQ(interval.hi, 3.0);
}

TEST(BootstrapMedian, IsRepeatableAndLiesAroundTheMedian) {
  const std::array values{1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 100.0};
  const Interval interval = bootstrap_median(values, 0.99, 7);
  EXPECT_LT(interval.lo, 5.0);
  EXPECT_GT(interval.hi, 5.0);
  EXPECT_LT(interval.hi, 100.0);  // one outlier among nine does not reach the interval's end
  EXPECT_EQ(bootstrap_median(values, 0.99, 7).lo, interval.lo);
  const Interval narrow = bootstrap_median(values, 0.5, 7);
  EXPECT_GT(narrow.lo, interval.lo);
  EXPECT_LT(narrow.hi, interval.hi);
}

// A percentile interval of so few values is somewhat too narrow: 97 % and not 99 % were seen.
TEST(BootstrapMedian, IntervalCoversTheTruthNearlyAlways) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> noise(1.0, 0.1);
  int covered = 0;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> values(15);
    for (double& value : values) value = noise(random);
    const Interval interval = bootstrap_median(values, 0.99, 1);
    covered += interval.lo <= 1.0 && interval.hi >= 1.0 ? 1 : 0;
  }
  EXPECT_GE(covered, 190);
}

TEST(RatioOverRounds, CancelsWhatARoundShares) {
  const std::array a{2.0, 20.0, 200.0};
  const std::array b{1.0, 10.0, 100.0};
  const Ratio ratio = ratio_over_rounds(a, b, 0.99, 1);
  EXPECT_NEAR(ratio.value, 2.0, 1e-12);
  EXPECT_NEAR(ratio.interval.lo, 2.0, 1e-12);
  EXPECT_NEAR(ratio.interval.hi, 2.0, 1e-12);
  EXPECT_EQ(ratio.rounds, 3);
}

Verdict verdict_of(double lo, double hi, double noise_floor) {
  return verdict({.value = (lo + hi) / 2, .interval = {lo, hi}, .rounds = 9}, noise_floor);
}

TEST(Verdict, FollowsTheInterval) {
  EXPECT_EQ(verdict_of(0.995, 1.005, 0.0), Verdict::same);
  EXPECT_EQ(verdict_of(0.95, 0.98, 0.0), Verdict::faster);
  EXPECT_EQ(verdict_of(1.02, 1.05, 0.0), Verdict::slower);
  EXPECT_EQ(verdict_of(0.995, 1.02, 0.0), Verdict::ambiguous);  // reaches over the margin
  EXPECT_EQ(verdict_of(0.9, 1.1, 0.0), Verdict::ambiguous);
  EXPECT_EQ(verdict_of(1.002, 1.008, 0.0), Verdict::same);  // surely slower, by too little
}

TEST(Verdict, NoiseFloorWidensTheMargin) {
  EXPECT_EQ(verdict_of(1.012, 1.018, 0.0), Verdict::slower);
  EXPECT_EQ(verdict_of(1.012, 1.018, 0.02), Verdict::same);
  EXPECT_EQ(verdict_of(1.012, 1.018, 0.015), Verdict::ambiguous);
  EXPECT_EQ(verdict_of(0.995, 1.005, 0.001), Verdict::same);  // 1 % is the least margin
}

TEST(Verdict, HasATextForEach) {
  EXPECT_EQ(to_string(Verdict::same), "SAME");
  EXPECT_EQ(to_string(Verdict::faster), "FASTER");
  EXPECT_EQ(to_string(Verdict::slower), "SLOWER");
  EXPECT_EQ(to_string(Verdict::ambiguous), "AMBIGUOUS");
}

/// Invented samples of one arm: 0.3 % of noise, rounds that drift together, and one sample in
/// thirty hit by a stolen time slice.
struct InventedRounds {
  std::mt19937_64 random;
  std::vector<double> a, b;

  double sample(double seconds) {
    std::normal_distribution<double> noise(1.0, 0.003);
    std::uniform_real_distribution<double> luck(0.0, 1.0);
    const double stolen = luck(random) < 1.0 / 30.0 ? 0.05 : 0.0;
    return seconds * (noise(random) + stolen);
  }
  InventedRounds(std::uint64_t seed, double slow_down) : random(seed) {
    std::normal_distribution<double> drift(1.0, 0.05);
    for (int round = 0; round < 9; ++round) {
      const double seconds = 1e-3 * drift(random);
      a.push_back(sample(seconds * slow_down));
      b.push_back(sample(seconds));
    }
  }
};

int count_verdicts(Verdict wanted, double slow_down) {
  int count = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const InventedRounds rounds(seed, slow_down);
    count += verdict(ratio_over_rounds(rounds.a, rounds.b, 0.99, seed), 0.0) == wanted ? 1 : 0;
  }
  return count;
}

TEST(Verdict, AnArmAgainstItselfIsTheSame) {
  EXPECT_GE(count_verdicts(Verdict::same, 1.0), 38);
  EXPECT_EQ(count_verdicts(Verdict::slower, 1.0), 0);
  EXPECT_EQ(count_verdicts(Verdict::faster, 1.0), 0);
}

TEST(Verdict, ThreePercentSlowerIsSeen) {
  EXPECT_GE(count_verdicts(Verdict::slower, 1.03), 36);
  EXPECT_GE(count_verdicts(Verdict::faster, 1.0 / 1.03), 36);
}

TEST(Verdict, NothingIsTheSameWhereNoiseHidesEverything) {
  const Ratio ratio{.value = 9.3, .interval = {1.07, 9.4}, .rounds = 9};
  EXPECT_EQ(verdict(ratio, 2.36), Verdict::ambiguous);
  EXPECT_EQ(verdict({.value = 1.0, .interval = {0.95, 1.05}, .rounds = 9}, 0.11),
            Verdict::ambiguous);
  EXPECT_EQ(verdict({.value = 1.0, .interval = {0.95, 1.05}, .rounds = 9}, 0.09), Verdict::same);
}

}  // namespace
}  // namespace loopbrick
