#include "tuner/regression.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

#include "kernels/text.h"
#include "tuner/known_schedule.h"
#include "tuner/record.h"

namespace loopbrick {

namespace {

using Finding = RegressionRow::Finding;

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string joined(const Table& table) {
  std::string text;
  for (const auto& row : table.rows) text += (text.empty() ? "" : ", ") + row.at(0).value_or("");
  return text;
}

/// Refuses what could only be compared wrongly, or with nothing.
void check_yardstick(const RegressionRequest& request, const Store& yardstick) {
  const std::string& machine = request.today.station.machine.id;
  if (yardstick.query("SELECT 1 FROM machine WHERE id = ?", {machine}).rows.empty()) {
    throw ParseError(fmt::format(
        "--against has no times of this machine '{}', and those of another ({}) can't be compared",
        machine, joined(yardstick.query("SELECT id FROM machine"))));
  }
  if (request.revision.empty()) return;
  const Table found = yardstick.query(
      "SELECT DISTINCT revision FROM build WHERE substr(revision, 1, length(:a)) = :a",
      {request.revision});
  if (found.rows.size() == 1) return;
  throw ParseError(fmt::format(
      "--against has {} '{}'; it has {}",
      found.rows.empty() ? "no build of commit" : "several commits that begin with",
      request.revision, joined(yardstick.query("SELECT DISTINCT revision FROM build"))));
}

/// FLOP/s of the peak probe in the rounds of both, as a factor that takes the hour's drift out; 1
/// where one is not known.
double drift(const TrialRecord& stored, const TrialRecord& today) {
  if (stored.peak_flops <= 0.0 || today.peak_flops <= 0.0) return 1.0;
  return stored.peak_flops / today.peak_flops;
}

double ratio_of(const TrialRecord& stored, const TrialRecord& today) {
  return drift(stored, today) * stored.confirmed.median / today.confirmed.median;
}

/// One layer's way from the stored time to a verdict.
class LayerRegression {
 public:
  LayerRegression(const RegressionRequest& request, const Layer& layer, const Store& yardstick,
                  const Store& store)
      : request_(request), store_(store) {
    context_ = {.problem = layer.problem,
                .conditions = request.today.conditions,
                .station = request.today.station};
    stored_ = stored_best(yardstick, key_of(context_, true), request.revision);
    today_ = request.today;
    today_.layers = {layer};
    row_.layer = layer.label;
    row_.problem = to_string(layer.problem);
    choose_arms();
  }

  /// Nothing if it was interrupted.
  std::optional<RegressionRow> row(const Comparer& comparer, double seconds) {
    if (!stored_) {
      row_.finding = Finding::not_stored;
      row_.reason = "no confirmed time of this problem under these conditions is stored";
      return row_;
    }
    today_.budget.seconds = seconds;
    if (!measure(comparer)) return std::nullopt;
    if (row_.finding != Finding::slower) return row_;
    row_.is_again = true;
    today_.rounds.rounds *= 2;
    ++today_.rounds.seed;
    if (!measure(comparer)) return std::nullopt;
    return row_;
  }

 private:
  void choose_arms() {
    if (!stored_) return;
    row_.stored_schedule = stored_->choice;
    row_.stored_seconds = stored_->confirmed.median;
    row_.stored_build = stored_->build;
    row_.stored_trial = stored_->id;
    const bool runs = still_runs(context_, stored_->choice);
    const auto known = best_known(context_, store_);
    today_.schedule = known ? known->choice : runs ? stored_->choice : std::string();
    today_.arms.clear();
    if (runs && today_.schedule != stored_->choice) today_.arms = {{kOurs, stored_->choice}};
  }

  bool measure(const Comparer& comparer) {
    const CompareReport report = comparer(today_);
    if (report.interrupted) return false;
    const CompareRow& ours = report.rows.at(0);
    row_.seconds = row_.ratio = row_.lo = row_.hi = row_.of_stored_schedule = 0.0;
    row_.schedule = ours.implementation;
    row_.trial = ours.trial;
    row_.finding = Finding::fine;
    row_.reason.clear();
    const auto today = store_.trial(ours.trial);
    if (ours.outcome != "ok" || !today || today->confirmed.n == 0) {
      row_.finding = Finding::failed;
      row_.reason = fmt::format("{}: {}", ours.outcome, ours.reason);
      return true;
    }
    row_.seconds = today->confirmed.median;
    row_.ratio = ratio_of(*stored_, *today);
    row_.lo = drift(*stored_, *today) * stored_->confirmed.lo / today->confirmed.hi;
    row_.hi = drift(*stored_, *today) * stored_->confirmed.hi / today->confirmed.lo;
    if (report.rows.size() > 1 && report.rows[1].outcome == "ok") {
      const auto other = store_.trial(report.rows[1].trial);
      row_.of_stored_schedule = other ? ratio_of(*stored_, *other) : 0.0;
    }
    if (row_.ratio < request_.bar) judge_slower();
    return true;
  }

  void judge_slower() {
    row_.finding = Finding::slower;
    const double same = row_.of_stored_schedule;
    std::string why = "of the same schedule";
    if (row_.schedule != row_.stored_schedule) {
      why = same <= 0.0 ? "and the stored schedule no longer runs"
            : same < request_.bar
                ? fmt::format("and the stored schedule has {:.3f}: the code", same)
                : fmt::format("but the stored schedule has {:.3f}: the choice", same);
    }
    row_.reason = fmt::format("{:.3f} ({:.3f} to {:.3f}) of the stored speed is below {:.3f}, {}",
                              row_.ratio, row_.lo, row_.hi, request_.bar, why);
  }

  const RegressionRequest& request_;
  const Store& store_;
  TrialContext context_;
  std::optional<TrialRecord> stored_;
  CompareRequest today_;
  RegressionRow row_;
};

}  // namespace

std::string to_string(Finding finding) {
  switch (finding) {
    case Finding::fine:
      return "fine";
    case Finding::slower:
      return "slower";
    case Finding::failed:
      return "failed";
    case Finding::not_stored:
      break;
  }
  return "not stored";
}

std::optional<TrialRecord> stored_best(const Store& yardstick, const Store::Key& key,
                                       const std::string& revision) {
  const Table found = yardstick.query(
      "WITH ours AS (SELECT trial.id, build, revision, confirmed_median, choice, taken FROM trial"
      " JOIN build ON build.id = build WHERE problem = :problem AND implementation = "
      ":implementation"
      " AND machine = :machine AND conditions = :conditions AND outcome = 'ok' AND confirmed_n > 0)"
      " SELECT id FROM ours WHERE CASE WHEN :revision IS NULL"
      " THEN build = (SELECT build FROM ours ORDER BY taken DESC, id DESC LIMIT 1)"
      " ELSE substr(revision, 1, length(:revision)) = :revision END"
      " ORDER BY confirmed_median, choice, id LIMIT 1",
      {key.problem, key.implementation, key.machine, key.conditions, revision});
  if (found.rows.empty()) return std::nullopt;
  return yardstick.trial(std::stoll(found.rows[0].at(0).value()));
}

RegressionReport regressions(const RegressionRequest& request, const Store& yardstick,
                             const Store& store, const Comparer& comparer,
                             const CompareWatcher& watcher, const std::atomic<bool>* stop) {
  check_yardstick(request, yardstick);
  RegressionReport report;
  const double started = steady_seconds();
  const auto layers = static_cast<int>(request.today.layers.size());
  for (int i = 0; i < layers; ++i) {
    report.interrupted = stop != nullptr && stop->load();
    if (report.interrupted) break;
    const Layer& layer = request.today.layers[static_cast<std::size_t>(i)];
    if (watcher) watcher(layer.label, i, layers);
    const double left = request.today.budget.seconds - (steady_seconds() - started);
    const bool is_limited = request.today.budget.seconds > 0.0;
    const double layer_started = steady_seconds();
    auto row = LayerRegression(request, layer, yardstick, store)
                   .row(comparer, is_limited ? std::max(1e-3, left / (layers - i)) : 0.0);
    report.interrupted = !row;
    if (!row) break;
    row->took = steady_seconds() - layer_started;
    report.rows.push_back(*row);
  }
  return report;
}

}  // namespace loopbrick
