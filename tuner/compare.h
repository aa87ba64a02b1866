#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/statistics.h"
#include "results/store.h"
#include "tuner/tune.h"

namespace loopbrick {

/// Everything that decides a comparison: the tuned schedule of each layer against other arms.
struct CompareRequest {
  std::vector<Layer> layers;
  Conditions conditions;
  Station station;
  std::vector<Arm> arms;  ///< the others; ours is added
  std::string schedule;   ///< not empty: ours for every layer, instead of the best confirmed one
  RoundPlan rounds;
  Budget budget;  ///< seconds: shared among the layers by making samples shorter
  BenchOptions bench;
};

/// One row of the report: one layer and one arm. Columns of the CSV have these names.
struct CompareRow {
  std::string layer;
  std::string problem;
  std::string impl;            ///< ours: "tuned", else "imported" or "model"; else the arm
  std::string implementation;  ///< what really ran, with ours the schedule
  double median_s = 0.0;
  double gflops = 0.0;
  double pct_of_peak = 0.0;
  double executed_pct_of_peak = 0.0;  ///< 0: not known
  std::string included;
  double speedup = 1.0;     ///< their time over ours, from the same rounds; 1 for ours
  double speedup_lo = 1.0;  ///< 99 % interval
  double speedup_hi = 1.0;
  std::string verdict;  ///< of ours against them: FASTER is good for us; empty for ours
  std::int64_t trial = 0;
  std::string outcome = "ok";
  std::string reason;
  std::string flag;
  std::int64_t count = 1;  ///< of the layer
  bool is_ours = false;
};

/// What compare tells while it works: the layer that it starts with, and how many are done.
using CompareWatcher = std::function<void(const std::string& layer, int done, int layers)>;

struct CompareReport {
  std::vector<CompareRow> rows;
  bool interrupted = false;
};

/// Ours and the others in rounds, every arm's samples stored as a trial, every ratio as a
/// comparison.
///
/// Ours is best_known, without one what was imported (tuner/stored_wisdom.h), without that the
/// model's first_choice (tuner/known_schedule.h), unless the request names a schedule. `stop` ends
/// it between two processes, and the layer at work leaves nothing behind. An arm that can't run a
/// problem has a row with its outcome and reason.
CompareReport compare(const CompareRequest& request, Store& store, const CompareWatcher& watcher,
                      const std::atomic<bool>* stop = nullptr);

/// The text by which an arm was asked for.
std::string text(const Arm& arm);

/// Our time over theirs, from the rounds that both took part in; nothing if there are none.
std::optional<Ratio> ratio_of(const Attempt& ours, const Attempt& theirs, std::uint64_t seed);

/// Enters that ratio in their row, turned around, and what it says of us.
void judge(const Ratio& ratio, double noise_floor, CompareRow& theirs);

/// Geometric mean over the layers (weighted by count) of `impl`'s speedup rows that are ok; 0 if
/// none.
double mean_speedup(const std::vector<CompareRow>& rows, const std::string& impl);

}  // namespace loopbrick
