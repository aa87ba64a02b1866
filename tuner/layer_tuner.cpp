#include "tuner/layer_tuner.h"

#include <algorithm>

#include "measure/statistics.h"
#include "tuner/stored_wisdom.h"
#include "tuner/transfer.h"

namespace loopbrick {

namespace {

/// Shares of a layer's time: most for the search, the rest to confirm what it found.
constexpr double kSearchShare = 0.6;

/// A time this much shorter than the best before is a gain; less may be noise.
constexpr double kGain = 0.01;

/// Share of a layer's time that the samples of one candidate may take.
constexpr double kMeasureShare = 0.03;

constexpr double kFewestFinalists = 2.0;
constexpr int kProcesses = 3;
constexpr double kSecondsOfAnArm = 90e-3;  ///< in all rounds; more rounds take shorter samples
constexpr double kShortestSample = 1e-3;

/// Reasons that are kept apart in the report.
constexpr std::size_t kMostReasons = 20;

}  // namespace

LayerTuner::LayerTuner(const TuneRequest& request, const Layer& layer, Store& store,
                       const TuneWatcher& watcher, const std::function<double()>& now)
    : request_(request), layer_(layer), store_(store), watcher_(watcher), now_(now) {
  context_ = {
      .problem = layer.problem, .conditions = request.conditions, .station = request.station};
  result_.label = layer.label;
  result_.problem = to_string(layer.problem);
  result_.flops = flops(layer.problem);
  started_ = now();
}

TunedLayer LayerTuner::run(const Space& space, const Measurer& measurer, const LayerBudget& budget,
                           std::set<std::string>& failed_before, TuneProgress& progress) {
  budget_ = budget;
  left_at_start_ = progress.seconds_left;
  sampling_ = sampling_within(budget.seconds);
  failed_before_ = &failed_before;
  progress_ = &progress;
  if (request_.resume) learn_what_is_known();
  if (measurer.cut) cut_.emplace(context_, *measurer.cut, store_, request_.resume);
  const Evaluate evaluate = [&](const std::string& choice, const Sampling& sampling) {
    return evaluate_whole(measurer.evaluate, choice, sampling);
  };
  const std::vector<Candidate> hinted = try_hints(space, evaluate);
  std::vector<Candidate> known = known_candidates(space);
  if (cut_) {
    calibrate(measurer.screen);
    add_cut_candidates(space, known);
  }
  const Strategy strategy = strategy_named(request_.strategy).begin(space, request_.seed);
  const SearchTools tools{
      .known = std::move(known),
      .recall = [this](const std::string& choice, const Ask& ask) { return recall(choice, ask); },
      .evaluate = evaluate,
      .screen = measurer.screen,
      .screen_scale =
          [this, &measurer] {
            calibrate(measurer.screen);
            return cut_->scale();
          },
      .keep =
          [this, &space](const Candidate& candidate, const Attempt& attempt) {
            const double predicted = predicted_[candidate.choice] = space.predict(candidate.point);
            const bool is_cut = cut_ && candidate.fidelity == Fidelity::screen;
            const std::int64_t trial = is_cut ? keep_cut(candidate.choice, predicted, attempt)
                                              : keep(candidate.choice, predicted, attempt);
            if (candidate.ok && !is_cut) note_best(candidate);
            best_after_.push_back(best_measured_);
            report("search");
            return trial;
          },
      .go_on = [this] { return may_go_on(); }};
  std::vector<Candidate> candidates = search(space, strategy, sampling_, tools);
  if (whole_trials_ > 0) ready_seconds_ = whole_seconds_ / static_cast<double>(whole_trials_);
  for (Candidate& candidate : candidates)
    predicted_[candidate.choice] = space.predict(candidate.point);
  result_.late_gain = late_gain();
  if (!candidates.empty()) result_.first_choice = candidates.front().choice;
  candidates.insert(candidates.end(), hinted.begin(), hinted.end());
  const std::vector<Candidate> chosen = finalists(candidates);
  settle(chosen);
  if (!must_stop()) confirm(chosen, measurer);
  report("confirm");
  return result_;
}

/// One measurement takes a small part of a layer's time, even if that leaves fewer samples.
Sampling LayerTuner::sampling_within(double seconds) const {
  Sampling sampling;
  const double peak = context_.station.limits.peak_flops;
  if (seconds <= 0.0 || peak <= 0.0) return sampling;
  const double one = std::max(result_.flops / peak, sampling.sample_seconds);
  const double fit = kMeasureShare * seconds / one;
  sampling.samples =
      static_cast<int>(std::clamp(fit, 1.0 + sampling.least_calls, 1.0 * sampling.samples));
  return sampling;
}

bool LayerTuner::must_stop() const { return watcher_.stop != nullptr && watcher_.stop->load(); }

/// The first trial is always allowed: a layer without any is no use.
bool LayerTuner::may_go_on() const {
  if (must_stop()) return false;
  if (result_.trials == 0) return true;
  if (budget_.trials > 0 && result_.trials >= budget_.trials) return false;
  if (budget_.stale > 0 && result_.trials - gained_trials_ >= budget_.stale) return false;
  return budget_.seconds <= 0.0 || now_() - started_ < kSearchShare * budget_.seconds;
}

void LayerTuner::learn_what_is_known() {
  for (TrialRecord& record : store_.trials(key_of(context_, false))) {
    known_[record.choice] = std::move(record);
  }
  result_.known = static_cast<std::int64_t>(known_.size());
}

/// What other machines found best, then what similar problems did.
std::vector<std::string> LayerTuner::hints(const Space& space) const {
  std::vector<std::string> choices = imported_schedules(context_, store_);
  if (request_.resume && request_.part == 0) {
    for (const std::string& choice : transferred_schedules(space, context_, store_))
      choices.push_back(choice);
  }
  return choices;
}

/// Hints are measured before anything else. Those that are points of the space are known to the
/// search then; the others are returned.
std::vector<Candidate> LayerTuner::try_hints(const Space& space, const Evaluate& evaluate) {
  std::vector<Candidate> outside;
  for (const std::string& choice : hints(space)) {
    const std::optional<Point> point = space.point ? space.point(choice) : std::nullopt;
    if (!known_.contains(choice)) {
      if (!may_go_on()) break;
      const double predicted = point ? space.predict(*point) : 0.0;
      known_[choice] = *store_.trial(keep(choice, predicted, evaluate(choice, sampling_)));
      report("hints");
    }
    if (point) continue;
    outside.push_back(remembered(known_[choice]));
    if (outside.back().ok) note_best(outside.back());
  }
  return outside;
}

/// What the store has of this space, in the order it was measured.
std::vector<Candidate> LayerTuner::known_candidates(const Space& space) {
  std::vector<Candidate> candidates;
  if (!space.point) return candidates;
  for (const auto& [choice, record] : known_) {
    const std::optional<Point> point = space.point(choice);
    if (!point) continue;
    candidates.push_back(remembered(record));
    candidates.back().point = *point;
    if (candidates.back().ok) note_best(candidates.back());
  }
  std::sort(candidates.begin(), candidates.end(),
            [](const Candidate& left, const Candidate& right) { return left.trial < right.trial; });
  return candidates;
}

/// What the store has of the cut problem, where the problem itself has no trial.
void LayerTuner::add_cut_candidates(const Space& space, std::vector<Candidate>& candidates) const {
  if (!space.point || !cut_->is_calibrated()) return;
  for (const std::string& choice : cut_->choices()) {
    const std::optional<Point> point = space.point(choice);
    if (!point || known_.contains(choice)) continue;
    candidates.push_back(*cut_->find(choice));
    candidates.back().point = *point;
  }
}

/// Screens the incumbent too: what it takes on both problems is what a screened time counts.
void LayerTuner::calibrate(const Evaluate& screen) {
  if (cut_->is_calibrated() || incumbent_.empty()) return;
  std::optional<double> seconds = cut_->cut_seconds(incumbent_);
  if (!seconds) {
    Sampling single_calls = sampling_;
    single_calls.samples = 0;
    const Attempt attempt = screen(incumbent_, single_calls);
    keep_cut(incumbent_, predicted_[incumbent_], attempt);
    if (!attempt.samples.empty()) seconds = summarize(attempt.samples).min;
  }
  cut_->calibrate(seconds ? best_measured_ / *seconds : cut_->scale());
}

Attempt LayerTuner::evaluate_whole(const Evaluate& evaluate, const std::string& choice,
                                   const Sampling& sampling) {
  const double started = now_();
  Attempt attempt = evaluate(choice, sampling);
  whole_seconds_ += now_() - started;
  ++whole_trials_;
  return attempt;
}

/// A stored trial as an answer. One that was run by a comparison has no samples of a search, but
/// better ones.
Candidate LayerTuner::remembered(const TrialRecord& record) const {
  const bool is_of_search = record.search.n > 0;
  const Measured& measured = is_of_search ? record.search : record.confirmed;
  const bool is_exact =
      !is_of_search || is_measurement(static_cast<std::size_t>(measured.n), sampling_);
  Candidate candidate{.choice = record.choice, .trial = record.id};
  candidate.fidelity = is_exact ? Fidelity::measure : Fidelity::screen;
  candidate.ok = record.outcome == "ok" && measured.n > 0;
  candidate.seconds = measured.min;
  return candidate;
}

/// A stored trial answers the question, unless it was only screened, looked fast and is now to be
/// measured.
std::optional<Candidate> LayerTuner::recall(const std::string& choice, const Ask& ask) {
  const auto known = known_.find(choice);
  const std::optional<Candidate> stored = known != known_.end() ? remembered(known->second)
                                          : cut_                ? cut_->find(choice)
                                                                : std::nullopt;
  if (!stored) return std::nullopt;
  const Candidate& candidate = *stored;
  if (!candidate.ok) return candidate;
  const double best = progress_->best_seconds > 0.0 ? progress_->best_seconds : 1e300;
  const bool is_slow = candidate.seconds > std::min(ask.give_up_above, kRacingMargin * best);
  const bool is_rough = candidate.fidelity == Fidelity::screen && ask.fidelity == Fidelity::measure;
  if (is_rough && !is_slow) return std::nullopt;
  if (candidate.trial != 0) note_best(candidate);
  return candidate;
}

void LayerTuner::note_best(const Candidate& candidate) {
  note_gain(candidate);
  if (progress_->best_seconds > 0.0 && progress_->best_seconds <= candidate.seconds) return;
  progress_->best_seconds = candidate.seconds;
  progress_->best_flops = result_.flops / candidate.seconds;
}

void LayerTuner::note_gain(const Candidate& candidate) {
  if (candidate.fidelity == Fidelity::screen) return;
  if (candidate.seconds < best_measured_) incumbent_ = candidate.choice;
  best_measured_ = std::min(best_measured_, candidate.seconds);
  if (candidate.seconds > (1.0 - kGain) * gained_seconds_) return;
  gained_seconds_ = candidate.seconds;
  gained_trials_ = result_.trials;
}

double LayerTuner::late_gain() const {
  if (best_after_.empty()) return 0.0;
  const double half_way = best_after_[(best_after_.size() - 1) / 2];
  return half_way < 1e300 ? half_way - best_after_.back() : 0.0;
}

std::int64_t LayerTuner::keep(const std::string& choice, double predicted, const Attempt& attempt) {
  return keep(context_, choice, predicted, attempt);
}

/// A trial of the cut problem, and none of this one: 0.
std::int64_t LayerTuner::keep_cut(const std::string& choice, double predicted,
                                  const Attempt& attempt) {
  keep(cut_->context(), choice, predicted / cut_->scale(), attempt);
  return 0;
}

std::int64_t LayerTuner::keep(const TrialContext& context, const std::string& choice,
                              double predicted, const Attempt& attempt) {
  TrialRecord record = trial_record(context, {kOurs, choice}, attempt, false);
  record.predicted = predicted;
  record.id = store_.add_trial(record);
  ++result_.trials;
  if (attempt.outcome != "ok") {
    ++result_.failures;
    const std::string reason = attempt.outcome + ": " + attempt.reason;
    const bool is_full =
        result_.reasons.size() >= kMostReasons && result_.reasons.count(reason) == 0;
    ++result_.reasons[is_full ? attempt.outcome : reason];
    report_failure(record);
  }
  return record.id;
}

void LayerTuner::report(const std::string& phase) {
  progress_->phase = phase;
  progress_->seconds_left = std::max(0.0, left_at_start_ - (now_() - started_));
  progress_->trials = result_.trials;
  progress_->known = result_.known;
  progress_->failures = result_.failures;
  if (watcher_.progress) watcher_.progress(*progress_);
}

void LayerTuner::report_failure(const TrialRecord& record) {
  if (!failed_before_->insert(record.outcome).second || !watcher_.failure) return;
  watcher_.failure({.layer = result_.label,
                    .problem = record.problem,
                    .choice = record.choice,
                    .outcome = record.outcome,
                    .reason = record.reason,
                    .trial = record.id});
}

/// As many as can be made ready in every process and timed in what is left of the layer's time.
std::size_t LayerTuner::affordable_finalists() const {
  if (budget_.seconds <= 0.0) return request_.finalists;
  const double left = budget_.seconds - (now_() - started_);
  const double each = kProcesses * ready_seconds_ +
                      request_.rounds * std::max(kShortestSample, 2.0 * progress_->best_seconds);
  const auto most = std::max(kFewestFinalists, static_cast<double>(request_.finalists));
  return static_cast<std::size_t>(std::clamp(left / each, kFewestFinalists, most));
}

/// The fastest of the search, the best that was confirmed before, and the model's first choice.
std::vector<Candidate> LayerTuner::finalists(const std::vector<Candidate>& candidates) const {
  std::vector<Candidate> chosen = fastest(candidates, affordable_finalists());
  const auto add = [&chosen](const Candidate& candidate) {
    const bool is_there = std::any_of(chosen.begin(), chosen.end(), [&](const Candidate& other) {
      return other.choice == candidate.choice;
    });
    if (!is_there) chosen.push_back(candidate);
  };
  if (request_.resume) {
    if (const auto best = store_.best(key_of(context_, false))) {
      add({.choice = best->choice,
           .ok = true,
           .seconds = best->confirmed.median,
           .trial = best->id});
    }
  }
  if (!candidates.empty() && candidates.front().ok) add(candidates.front());
  return chosen;
}

RoundPlan LayerTuner::round_plan(std::size_t arms) const {
  RoundPlan plan{.rounds = request_.rounds,
                 .processes = kProcesses,
                 .sample_seconds = std::max(kShortestSample, kSecondsOfAnArm / request_.rounds),
                 .seed = request_.seed,
                 .stop = watcher_.stop};
  if (budget_.seconds <= 0.0) return plan;
  const auto count = static_cast<double>(arms);
  const double left = budget_.seconds - (now_() - started_) - kProcesses * count * ready_seconds_;
  plan.sample_seconds =
      std::clamp(left / (request_.rounds * (count + 1.0)), kShortestSample, plan.sample_seconds);
  return plan;
}

void LayerTuner::confirm(const std::vector<Candidate>& chosen, const Measurer& measurer) {
  if (chosen.empty()) return;
  std::vector<Arm> arms;
  for (const Candidate& candidate : chosen) arms.push_back({kOurs, candidate.choice});
  report("confirm");
  const Rounds rounds = measurer.rounds(arms, round_plan(arms.size()));
  if (rounds.stopped) return;
  const double peak = rounds.peak_flops.empty() ? 0.0 : median(rounds.peak_flops);
  std::vector<Candidate> confirmed;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const Attempt& attempt = rounds.arms[i];
    if (attempt.outcome != "ok" || attempt.samples.empty()) {
      keep(chosen[i].choice, predicted_[chosen[i].choice], attempt);
      continue;
    }
    const Measured measured = summarize(attempt.samples);
    confirmed.push_back(chosen[i]);
    if (chosen[i].trial == 0) confirmed.back().trial = keep_unsearched(chosen[i].choice, attempt);
    store_.confirm(confirmed.back().trial, measured, peak, timed_samples(attempt.samples, true));
    confirmed.back().fidelity = Fidelity::measure;
    confirmed.back().seconds = measured.median;
    if (chosen[i].choice == result_.first_choice) result_.first_seconds = measured.median;
  }
  settle(confirmed);
  result_.peak_flops = peak;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (confirmed.empty() || chosen[i].choice != result_.schedule) continue;
    const Measured measured = summarize(rounds.arms[i].samples);
    result_.is_confirmed = true;
    result_.lo = measured.lo;
    result_.hi = measured.hi;
    result_.executed_flops = rounds.arms[i].executed_flops;
  }
}

/// A finalist that was screened on the cut problem only: its first trial, without samples of a
/// search.
std::int64_t LayerTuner::keep_unsearched(const std::string& choice, Attempt attempt) {
  attempt.samples.clear();
  return keep(choice, predicted_[choice], attempt);
}

/// The fastest of these is the result so far.
void LayerTuner::settle(const std::vector<Candidate>& candidates) {
  const std::vector<Candidate> best = fastest(candidates, 1);
  result_.trial = best.empty() ? 0 : best.front().trial;
  result_.schedule = best.empty() ? std::string() : best.front().choice;
  result_.seconds = best.empty() ? 0.0 : best.front().seconds;
  result_.predicted = best.empty() ? 0.0 : predicted_[best.front().choice];
}

}  // namespace loopbrick
