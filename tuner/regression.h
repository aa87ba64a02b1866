#pragma once
#include <functional>
#include <string>
#include <vector>

#include "results/store.h"
#include "tuner/compare.h"

namespace loopbrick {

/// Is what runs today as fast as what another database stores of the same problems, conditions and
/// machine?
struct RegressionRequest {
  CompareRequest
      today;  ///< layers, conditions, station, rounds, budget, bench; the rest is not read
  std::string
      revision;      ///< stored by builds of it; empty: by the newest build that has the problem
  double bar = 0.0;  ///< least ratio that is accepted
};

/// One layer. A ratio is stored time over today's, each as a share of the peak that was probed in
/// its own rounds where that is known: above 1, today is faster.
struct RegressionRow {
  enum class Finding { fine, slower, failed, not_stored };

  std::string layer, problem;
  Finding finding = Finding::fine;
  std::string reason;                      ///< for all but fine: one sentence
  double ratio = 0.0, lo = 0.0, hi = 0.0;  ///< with the ends of both medians' 99 % intervals
  double of_stored_schedule =
      0.0;  ///< the ratio of the stored schedule run today; 0: it's ours, or no longer runs
  std::string schedule, stored_schedule;
  double seconds = 0.0, stored_seconds = 0.0;
  std::string stored_build;
  std::int64_t trial = 0, stored_trial = 0;
  double took = 0.0;      ///< seconds of wall clock, all in all
  bool is_again = false;  ///< looked slower and was measured again: these are the later values
};

std::string to_string(RegressionRow::Finding finding);

struct RegressionReport {
  std::vector<RegressionRow> rows;
  bool interrupted = false;
};

/// Measures and stores what the request asks for: compare, or a test's numbers.
using Comparer = std::function<CompareReport(const CompareRequest&)>;

/// The best of ours that `yardstick` stores under this key (whose build is not read); nothing if it
/// has none.
std::optional<TrialRecord> stored_best(const Store& yardstick, const Store::Key& key,
                                       const std::string& revision);

/// Today's schedule of each layer (best_known in `store`, without one the stored schedule, if that
/// no longer runs the model's first choice) against the stored time; where the schedules differ the
/// stored one runs in the same rounds. What is below the bar is measured once more with twice the
/// rounds, and judged by those.
///
/// Errors  throws ParseError if `yardstick` has no build of that revision, or nothing of this
///         machine.
RegressionReport regressions(const RegressionRequest& request, const Store& yardstick,
                             const Store& store, const Comparer& comparer,
                             const CompareWatcher& watcher, const std::atomic<bool>* stop);

}  // namespace loopbrick
