#include "tuner/compare.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "measure/statistics.h"
#include "tuner/our_choice.h"
#include "tuner/record.h"

namespace loopbrick {

namespace {

constexpr double kLevel = 0.99;
constexpr double kShortestSample = 1e-3;

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds of the rounds that both arms took part in, side by side.
struct Pairs {
  std::vector<double> ours, theirs;
};

Pairs pairs(const Attempt& ours, const Attempt& theirs) {
  Pairs both;
  for (const Sample& our : ours.samples) {
    for (const Sample& their : theirs.samples) {
      if (our.round != their.round) continue;
      both.ours.push_back(our.seconds);
      both.theirs.push_back(their.seconds);
    }
  }
  return both;
}

}  // namespace

std::string text(const Arm& arm) {
  return arm.choice.empty() ? arm.implementation : arm.implementation + ":" + arm.choice;
}

std::optional<Ratio> ratio_of(const Attempt& ours, const Attempt& theirs, std::uint64_t seed) {
  const Pairs both = pairs(ours, theirs);
  if (both.ours.empty()) return std::nullopt;
  return ratio_over_rounds(both.ours, both.theirs, kLevel, seed);
}

void judge(const Ratio& ratio, double noise_floor, CompareRow& theirs) {
  theirs.speedup = 1.0 / ratio.value;
  theirs.speedup_lo = 1.0 / ratio.interval.hi;
  theirs.speedup_hi = 1.0 / ratio.interval.lo;
  theirs.verdict = to_string(verdict(ratio, noise_floor));
}

namespace {

/// One layer: its arms run in rounds, stored and judged.
class LayerComparison {
 public:
  LayerComparison(const CompareRequest& request, const Layer& layer, Store& store)
      : request_(request), layer_(layer), store_(store) {
    context_ = {
        .problem = layer.problem, .conditions = request.conditions, .station = request.station};
  }

  /// Nothing, and nothing stored, if the plan was stopped before all rounds were run.
  std::optional<std::vector<CompareRow>> rows(const RoundPlan& plan) {
    arms_ = {{kOurs, our_schedule()}};
    arms_.insert(arms_.end(), request_.arms.begin(), request_.arms.end());
    Bench bench(layer_.problem, request_.conditions, request_.bench);
    rounds_ = bench.rounds(arms_, plan);
    if (rounds_.stopped) return std::nullopt;
    peak_ = rounds_.peak_flops.empty() ? 0.0 : median(rounds_.peak_flops);
    std::vector<CompareRow> rows;
    for (std::size_t i = 0; i < arms_.size(); ++i) rows.push_back(row(i));
    for (std::size_t i = 1; i < rows.size(); ++i) judge(rows.front(), i, rows[i]);
    return rows;
  }

  /// When the operands do not fit: every arm has the same reason.
  std::vector<CompareRow> refused(const std::string& reason) const {
    CompareRow row{.layer = layer_.label, .problem = to_string(layer_.problem), .impl = ours_};
    row.is_ours = true;
    row.outcome = "out_of_memory";
    row.reason = reason;
    row.count = layer_.count;
    std::vector<CompareRow> rows{row};
    row.is_ours = false;
    for (const Arm& arm : request_.arms) {
      row.impl = text(arm);
      rows.push_back(row);
    }
    return rows;
  }

 private:
  /// Says in ours_ where it comes from.
  std::string our_schedule() {
    ours_ = "tuned";
    if (!request_.schedule.empty()) return request_.schedule;
    const OurChoice ours = our_choice(context_, request_.bench.seed, store_);
    ours_ = ours.origin;
    return ours.schedule;
  }

  CompareRow row(std::size_t i) const {
    const Attempt& attempt = rounds_.arms[i];
    TrialRecord record = trial_record(context_, arms_[i], attempt, true);
    record.peak_flops = peak_;
    CompareRow row{.layer = layer_.label, .problem = record.problem};
    row.impl = i == 0 ? ours_ : text(arms_[i]);
    row.is_ours = i == 0;
    row.implementation = i == 0 ? arms_[i].choice : attempt.ran;
    row.included = attempt.included;
    row.outcome = attempt.outcome;
    row.reason = attempt.reason;
    row.flag = attempt.flag;
    row.count = layer_.count;
    row.trial = store_.add_trial(record);
    if (record.confirmed.n == 0) return row;
    row.median_s = record.confirmed.median;
    row.gflops = record.flops / row.median_s * 1e-9;
    if (peak_ > 0.0) {
      row.pct_of_peak = 100.0 * record.flops / row.median_s / peak_;
      row.executed_pct_of_peak = 100.0 * record.executed_flops / row.median_s / peak_;
    }
    return row;
  }

  /// Their time over ours, from the rounds that both ran in.
  void judge(const CompareRow& ours, std::size_t i, CompareRow& theirs) const {
    const auto ratio = ratio_of(rounds_.arms[0], rounds_.arms[i], request_.rounds.seed);
    if (!ratio) return;
    loopbrick::judge(*ratio, request_.station.limits.noise_floor, theirs);
    store_.add_comparison({.campaign = request_.station.campaign,
                           .trial = ours.trial,
                           .other = theirs.trial,
                           .ratio = theirs.speedup,
                           .lo = theirs.speedup_lo,
                           .hi = theirs.speedup_hi,
                           .rounds = ratio->rounds,
                           .verdict = theirs.verdict});
  }

  const CompareRequest& request_;
  const Layer& layer_;
  Store& store_;
  TrialContext context_;
  std::string ours_;
  std::vector<Arm> arms_;
  Rounds rounds_;
  double peak_ = 0.0;
};

/// The plan with samples short enough for what is left of the budget.
RoundPlan plan_within(const CompareRequest& request, std::size_t layers_left, double seconds_used) {
  RoundPlan plan = request.rounds;
  if (request.budget.seconds <= 0.0) return plan;
  const double left = std::max(0.0, request.budget.seconds - seconds_used);
  const auto samples =
      static_cast<double>(plan.rounds) * static_cast<double>(request.arms.size() + 2);
  const double fits = left / static_cast<double>(layers_left) / samples;
  plan.sample_seconds =
      std::clamp(fits, std::min(kShortestSample, plan.sample_seconds), plan.sample_seconds);
  return plan;
}

}  // namespace

CompareReport compare(const CompareRequest& request, Store& store, const CompareWatcher& watcher,
                      const std::atomic<bool>* stop) {
  CompareReport report;
  const double started = steady_seconds();
  for (std::size_t i = 0; i < request.layers.size(); ++i) {
    report.interrupted = stop != nullptr && stop->load();
    if (report.interrupted) break;
    const Layer& layer = request.layers[i];
    const std::size_t left = request.layers.size() - i;
    if (watcher) watcher(layer.label, static_cast<int>(i), static_cast<int>(request.layers.size()));
    LayerComparison comparison(request, layer, store);
    RoundPlan plan = plan_within(request, left, steady_seconds() - started);
    if (stop != nullptr) plan.stop = stop;
    std::optional<std::vector<CompareRow>> rows;
    try {
      rows = comparison.rows(plan);
    } catch (const NoMemory& error) {
      rows = comparison.refused(error.what());
    }
    report.interrupted = !rows;
    if (!rows) break;
    report.rows.insert(report.rows.end(), rows->begin(), rows->end());
  }
  return report;
}

double mean_speedup(const std::vector<CompareRow>& rows, const std::string& impl) {
  double logs = 0.0;
  double weights = 0.0;
  for (const CompareRow& row : rows) {
    if (row.impl != impl || row.verdict.empty()) continue;
    logs += static_cast<double>(row.count) * std::log(row.speedup);
    weights += static_cast<double>(row.count);
  }
  return weights > 0.0 ? std::exp(logs / weights) : 0.0;
}

}  // namespace loopbrick
