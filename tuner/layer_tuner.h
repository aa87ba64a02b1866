#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "results/store.h"
#include "trials/bench.h"
#include "tuner/cut_screens.h"
#include "tuner/record.h"
#include "tuner/search.h"
#include "tuner/space.h"
#include "tuner/strategy.h"
#include "tuner/tune.h"

namespace loopbrick {

/// What a layer is measured with: the two questions that a Bench answers, and for a large problem
/// one of a Bench of the cut problem.
struct Measurer {
  Evaluate evaluate;
  std::function<Rounds(std::span<const Arm> arms, const RoundPlan& plan)> rounds;
  std::optional<Problem> cut{};
  Evaluate screen{};  ///< with `cut`
};

/// What one layer may spend.
struct LayerBudget {
  double seconds = 0.0;     ///< 0: no limit
  std::int64_t trials = 0;  ///< 0: no limit
  std::int64_t stale = 0;   ///< Budget::stale
};

/// One layer of a tune: search, then the finalists in rounds.
///
/// Errors  run throws what Store and the measurer throw; what was stored until then stays.
class LayerTuner {
 public:
  /// The layer's time starts here. `now` gives seconds on some clock. Everything passed must
  /// outlive the tuner.
  LayerTuner(const TuneRequest& request, const Layer& layer, Store& store,
             const TuneWatcher& watcher, const std::function<double()>& now);

  /// `failed_before` holds the kinds of failures that were shown already, over all layers.
  TunedLayer run(const Space& space, const Measurer& measurer, const LayerBudget& budget,
                 std::set<std::string>& failed_before, TuneProgress& progress);

 private:
  bool must_stop() const;
  bool may_go_on() const;
  void learn_what_is_known();
  std::vector<Candidate> known_candidates(const Space& space);
  void add_cut_candidates(const Space& space, std::vector<Candidate>& candidates) const;
  void calibrate(const Evaluate& screen);
  Attempt evaluate_whole(const Evaluate& evaluate, const std::string& choice,
                         const Sampling& sampling);
  std::vector<std::string> hints(const Space& space) const;
  std::vector<Candidate> try_hints(const Space& space, const Evaluate& evaluate);
  Candidate remembered(const TrialRecord& record) const;
  std::optional<Candidate> recall(const std::string& choice, const Ask& ask);
  void note_best(const Candidate& candidate);
  void note_gain(const Candidate& candidate);
  double late_gain() const;
  std::int64_t keep(const std::string& choice, double predicted, const Attempt& attempt);
  std::int64_t keep(const TrialContext& context, const std::string& choice, double predicted,
                    const Attempt& attempt);
  std::int64_t keep_cut(const std::string& choice, double predicted, const Attempt& attempt);
  std::int64_t keep_unsearched(const std::string& choice, Attempt attempt);
  void report(const std::string& phase);
  void report_failure(const TrialRecord& record);
  Sampling sampling_within(double seconds) const;

  std::size_t affordable_finalists() const;
  std::vector<Candidate> finalists(const std::vector<Candidate>& candidates) const;
  void confirm(const std::vector<Candidate>& chosen, const Measurer& measurer);
  RoundPlan round_plan(std::size_t arms) const;
  void settle(const std::vector<Candidate>& candidates);

  const TuneRequest& request_;
  const Layer& layer_;
  Store& store_;
  const TuneWatcher& watcher_;
  const std::function<double()>& now_;
  TrialContext context_;
  TunedLayer result_;
  LayerBudget budget_;
  double started_ = 0.0;
  double left_at_start_ = 0.0;
  double best_measured_ = 1e300;    ///< of screened candidates nothing
  std::string incumbent_;           ///< the choice that was measured so
  double gained_seconds_ = 1e300;   ///< the best measured time that counted as a gain
  std::int64_t gained_trials_ = 0;  ///< of this run, when it was found
  std::vector<double> best_after_;  ///< each trial of this run: the best measured time; 1e300: none
  double whole_seconds_ = 0.0;      ///< that evaluations of the whole problem took
  std::int64_t whole_trials_ = 0;
  double ready_seconds_ = 0.02;  ///< that a candidate needs to be made, checked and screened
  Sampling sampling_;
  std::map<std::string, TrialRecord> known_;  ///< by choice
  std::optional<CutScreens> cut_;             ///< of a large problem
  std::map<std::string, double> predicted_;
  std::set<std::string>* failed_before_ = nullptr;
  TuneProgress* progress_ = nullptr;
};

}  // namespace loopbrick
