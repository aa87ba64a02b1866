#include "tuner/cut_screens.h"

namespace loopbrick {

CutScreens::CutScreens(const TrialContext& whole, const Problem& cut, const Store& store,
                       bool knows)
    : context_(whole), scale_(flops(whole.problem) / flops(cut)) {
  context_.problem = cut;
  if (!knows) return;
  for (TrialRecord& record : store.trials(key_of(context_, false)))
    known_[record.choice] = std::move(record);
}

void CutScreens::calibrate(double scale) {
  scale_ = scale;
  is_calibrated_ = true;
}

std::optional<double> CutScreens::cut_seconds(const std::string& choice) const {
  const auto known = known_.find(choice);
  if (known == known_.end() || known->second.search.n == 0) return std::nullopt;
  return known->second.search.min;
}

std::optional<Candidate> CutScreens::find(const std::string& choice) const {
  const auto known = known_.find(choice);
  if (known == known_.end()) return std::nullopt;
  Candidate candidate{.choice = choice, .fidelity = Fidelity::screen};
  if (const auto seconds = cut_seconds(choice)) {
    candidate.ok = known->second.outcome == "ok";
    candidate.seconds = *seconds * scale_;
  }
  return candidate;
}

std::vector<std::string> CutScreens::choices() const {
  std::vector<std::string> all;
  for (const auto& [choice, record] : known_) all.push_back(choice);
  return all;
}

}  // namespace loopbrick
