#include "results/store.h"

namespace loopbrick {

const std::vector<SavedQuery>& saved_queries() {
  static const std::vector<SavedQuery> kQueries{
      {"best", "the fastest confirmed choice of every implementation on every problem", R"sql(
SELECT problem, implementation, choice, round(median_s, 9) AS median_s, round(gflops, 1) AS gflops,
       round(pct_of_peak, 1) AS pct_of_peak,
       round(executed_pct_of_peak, 1) AS executed_pct_of_peak, conditions, machine, build, trial
FROM best
WHERE (:machine IS NULL OR machine = :machine) AND (:problem IS NULL OR problem = :problem)
ORDER BY problem, machine, conditions, median_s)sql"},
      {"layers", "our best and the best peer, layer by layer", R"sql(
SELECT suite, layer, count, problem, choice, round(median_s, 9) AS median_s,
       round(gflops, 1) AS gflops, round(pct_of_peak, 1) AS pct_of_peak,
       round(executed_pct_of_peak, 1) AS executed_pct_of_peak, peer,
       round(peer_gflops, 1) AS peer_gflops, conditions, machine, trial, peer_trial
FROM layers
WHERE (:machine IS NULL OR machine = :machine) AND (:problem IS NULL OR problem = :problem)
ORDER BY machine, conditions, suite, CAST(layer AS INTEGER), layer, problem)sql"},
      {"speedup", "ratios from the same rounds: their time over ours, with interval and verdict",
       R"sql(
SELECT campaign, problem, implementation, other, round(speedup, 4) AS speedup, round(lo, 4) AS lo,
       round(hi, 4) AS hi, rounds, verdict, round(gflops, 1) AS gflops,
       round(other_gflops, 1) AS other_gflops, other_ran, conditions, machine, trial, other_trial
FROM speedup
WHERE (:machine IS NULL OR machine = :machine) AND (:problem IS NULL OR problem = :problem)
ORDER BY campaign DESC, problem, speedup)sql"},
      {"failures", "what did not run or was wrong, how often, and the first reason", R"sql(
SELECT problem, implementation, outcome, count, first_reason, first_choice, conditions, machine,
       first_trial
FROM failures
WHERE (:machine IS NULL OR machine = :machine) AND (:problem IS NULL OR problem = :problem)
ORDER BY count DESC, problem, implementation, outcome)sql"},
      {"coverage",
       "is each problem tuned enough? Trials, share of the space, probable gain of more",
       R"sql(
SELECT problem, implementation, enough, round(probable_gain_pct, 2) AS probable_gain_pct, trials,
       trials_since, last_gain, choices, schedules, share_pct, ok, confirmed,
       round(best_s, 9) AS best_s, round(best_search_s, 9) AS best_search_s, conditions, machine
FROM coverage
WHERE (:machine IS NULL OR machine = :machine) AND (:problem IS NULL OR problem = :problem)
ORDER BY problem, machine, conditions, implementation)sql"},
      {"history", "the best of every build, oldest first, and how it compares with the one before",
       R"sql(
SELECT problem, implementation, revision, since, round(median_s, 9) AS median_s,
       round(gflops, 1) AS gflops, round(over_previous, 4) AS over_previous, trials, choice,
       conditions, machine, build, trial
FROM history
WHERE (:machine IS NULL OR machine = :machine) AND (:problem IS NULL OR problem = :problem)
ORDER BY problem, machine, conditions, implementation, since)sql"},
      {"repeats", "the same schedule measured more than once with intervals that do not meet",
       R"sql(
SELECT problem, implementation, choice, times, round(apart_pct, 2) AS apart_pct,
       round(fastest_s, 9) AS fastest_s, round(slowest_s, 9) AS slowest_s, first_taken, last_taken,
       conditions, machine, build
FROM repeats
WHERE (:machine IS NULL OR machine = :machine) AND (:problem IS NULL OR problem = :problem)
ORDER BY apart_pct DESC, problem, choice)sql"},
      {"campaigns", "every run of the program, newest first", R"sql(
SELECT id, started, round(seconds, 1) AS seconds, how, command, strategy, budget, seed, trust,
       problems, trials, ok, comparisons, round(peak_flops / 1e9, 1) AS peak_gflops, build, machine
FROM campaigns
WHERE (:machine IS NULL OR machine = :machine)
  AND (:problem IS NULL
       OR EXISTS (SELECT 1 FROM trial WHERE trial.campaign = campaigns.id AND problem = :problem))
ORDER BY id DESC)sql"},
      {"samples", "every timed sample in the order it was taken", R"sql(
SELECT sample.trial, implementation, choice, start, seconds, calls, round, process, ord, confirming,
       superseded
FROM sample JOIN trial ON trial.id = sample.trial
WHERE (:machine IS NULL OR machine = :machine) AND (:problem IS NULL OR problem = :problem)
ORDER BY sample.rowid)sql"},
      {"model", "the cost model against the clock: regret of its first choices, rank correlation",
       R"sql(
SELECT problem, implementation, choices, round(first_predicted_s, 9) AS first_predicted_s,
       round(first_measured_s, 9) AS first_measured_s, round(fastest_s, 9) AS fastest_s,
       round(regret_pct, 1) AS regret_pct,
       round(first_ten_regret_pct, 1) AS first_ten_regret_pct,
       round(rank_correlation, 3) AS rank_correlation, conditions, machine, build, first_trial
FROM model
WHERE (:machine IS NULL OR machine = :machine) AND (:problem IS NULL OR problem = :problem)
ORDER BY problem, machine, conditions, build)sql"},
  };
  return kQueries;
}

}  // namespace loopbrick
