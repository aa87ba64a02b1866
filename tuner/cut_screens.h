#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/store.h"
#include "tuner/record.h"
#include "tuner/search.h"

namespace loopbrick {

/// What is known of a large problem's candidates from the same problem cut down (cut_problem).
///
/// They are trials of the cut problem in the store. As answers to a search their times are scaled:
/// first by the FLOPs, then by what one candidate took on both.
class CutScreens {
 public:
  /// With `knows` what the store has already is known.
  CutScreens(const TrialContext& whole, const Problem& cut, const Store& store, bool knows);

  const TrialContext& context() const { return context_; }

  /// Seconds of the whole problem for one of the cut one.
  double scale() const { return scale_; }
  bool is_calibrated() const { return is_calibrated_; }
  void calibrate(double scale);

  /// Seconds of the cut problem: the fastest single call.
  std::optional<double> cut_seconds(const std::string& choice) const;

  /// Screened candidates, in seconds of the whole problem, of which they have no trial.
  std::optional<Candidate> find(const std::string& choice) const;
  std::vector<std::string> choices() const;

 private:
  TrialContext context_;
  double scale_;
  bool is_calibrated_ = false;
  std::map<std::string, TrialRecord> known_;  ///< by choice
};

}  // namespace loopbrick
