#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "problems/conditions.h"
#include "problems/problem.h"
#include "results/store.h"
#include "trials/bench.h"
#include "tuner/budget.h"
#include "tuner/station.h"

namespace loopbrick {

/// A problem as one layer of a network that has it `count` times.
struct Layer {
  std::string label;
  Problem problem;
  std::int64_t count = 1;
};

/// Everything that decides a tuning run.
struct TuneRequest {
  std::vector<Layer> layers;
  Conditions conditions;
  Station station;
  Budget budget{.seconds = 60.0};
  std::string strategy = "model";
  std::uint64_t seed = 1;
  bool resume = true;         ///< what the store knows under the same key is not measured again
  std::int64_t part = 0;      ///< schedules of the part that is searched (reduced_space.h); 0: all
  std::size_t finalists = 8;  ///< that are confirmed in rounds
  int rounds = 9;
  BenchOptions bench;  ///< seed, fills, in_process
};

/// Where the run stands, after every trial.
struct TuneProgress {
  std::string layer;
  int layers_done = 0;
  int layers = 0;
  std::int64_t trials = 0;  ///< measured for this layer in this run
  std::int64_t known = 0;   ///< schedules that the store knew already
  std::int64_t failures = 0;
  double best_seconds = 0.0;  ///< 0: nothing valid yet
  double best_flops = 0.0;    ///< FLOP/s
  double seconds_left = 0.0;  ///< of the whole budget, as far as it is known
  std::string phase;          ///< "prepare", "search", "confirm"
};

/// The first failure of its kind, in full.
struct TuneFailure {
  std::string layer;
  std::string problem;
  std::string choice;
  std::string outcome;
  std::string reason;
  std::int64_t trial = 0;  ///< `loopbrick replay TRIAL`
};

/// What tune tells while it works, and when it is to stop; each may be empty.
struct TuneWatcher {
  std::function<void(const TuneProgress&)> progress;
  std::function<void(const TuneFailure&)> failure;
  const std::atomic<bool>* stop = nullptr;  ///< true: end after the running trial, keep the data
};

/// What became of one layer.
struct TunedLayer {
  std::string label;
  std::string problem;
  std::string refusal;      ///< not empty: the problem has no space, and why
  std::int64_t trials = 0;  ///< measured in this run
  std::int64_t known = 0;   ///< schedules that the store knew already
  std::int64_t failures = 0;
  std::map<std::string, std::int64_t> reasons;  ///< failures by "outcome: reason"
  std::int64_t trial = 0;                       ///< the best one; 0: nothing valid was found
  std::string schedule;
  double seconds = 0.0;  ///< its median: confirmed if is_confirmed, else of the search
  double lo = 0.0, hi = 0.0;
  bool is_confirmed = false;
  double flops = 0.0;  ///< counted, of one run
  double executed_flops = 0.0;
  double peak_flops = 0.0;     ///< FLOP/s, of the probe in the same rounds
  double predicted = 0.0;      ///< seconds, of the best
  double late_gain = 0.0;      ///< seconds that the second half of this run's trials took off
  std::string first_choice;    ///< what the search tried first: with its model, the model's choice
  double first_seconds = 0.0;  ///< its median in the same rounds; 0: not among the finalists
};

struct TuneReport {
  std::vector<TunedLayer> layers;
  bool interrupted = false;
};

/// Searches, verifies, measures, confirms and stores the best schedule of every layer.
///
/// Each trial is committed before the next one starts. How the budget is dealt: Purse.
/// Errors  what Store and Bench throw.
TuneReport tune(const TuneRequest& request, Store& store, const TuneWatcher& watcher);

}  // namespace loopbrick
