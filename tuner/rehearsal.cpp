#include "tuner/rehearsal.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace loopbrick {

namespace {

constexpr std::size_t kFinalists = 8;

/// Answers from the table, with noise; a failed schedule fails.
Seen answer(const TimingTable& table, const Ask& ask, double noise, Random& random) {
  const double seconds = row_of(table, ask.point).seconds;
  Seen seen{.point = ask.point, .fidelity = ask.fidelity, .ok = seconds > 0.0};
  if (seen.ok) {
    std::normal_distribution<double> spread;
    seen.seconds = seconds * std::exp(noise * spread(random));
  }
  return seen;
}

double regret_of(const TimingTable& table, const std::vector<Seen>& history) {
  std::vector<const Seen*> measured;
  for (const Seen& seen : history) {
    if (seen.ok && seen.fidelity == Fidelity::measure) measured.push_back(&seen);
  }
  const std::size_t finalists = std::min(kFinalists, measured.size());
  std::partial_sort(
      measured.begin(), measured.begin() + static_cast<std::ptrdiff_t>(finalists), measured.end(),
      [](const Seen* left, const Seen* right) { return left->seconds < right->seconds; });
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < finalists; ++i)
    best = std::min(best, row_of(table, measured[i]->point).seconds);
  return best / best_seconds(table) - 1.0;
}

}  // namespace

std::vector<double> rehearse(const TimingTable& table, const StrategyRow& row,
                             const RehearsalPlan& plan) {
  const Space space = space_of(table);
  const Strategy strategy = row.begin(space, plan.seed);
  Random random(plan.seed ^ 0x5DEECE66DULL);
  std::vector<Seen> history;
  std::vector<double> regrets;
  while (const std::optional<Ask> ask = strategy(history)) {
    const bool is_new = !is_seen(history, ask->point);
    if (is_new && regrets.size() == plan.trials) break;
    history.push_back(answer(table, *ask, plan.noise, random));
    const double regret = regret_of(table, history);
    if (is_new) {
      regrets.push_back(regret);
    } else {
      regrets.back() = regret;
    }
  }
  return regrets;
}

}  // namespace loopbrick
