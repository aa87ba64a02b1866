#include "tuner/measured_table.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <vector>

#include "measure/statistics.h"
#include "tuner/problem_space.h"
#include "tuner/reduced_space.h"

namespace loopbrick {

namespace {

constexpr const char* kPredictor = "predicted by";
constexpr std::size_t kFinalists = 50;
constexpr int kRounds = 30;

TimingRow row_of(const Space& space, const Point& point, const std::vector<int>& open,
                 const TrialRecord& trial) {
  TimingRow row{.point = {}, .schedule = trial.choice, .predicted = space.predict(point)};
  for (const int place : open) row.point.push_back(point[place]);
  if (trial.outcome != "ok") return row;
  row.confirmed = trial.confirmed.n > 0;
  row.seconds = row.confirmed ? trial.confirmed.median : trial.search.min;
  return row;
}

/// A choice of one value is none: it is a fact of the table. Returns the places of the others.
std::vector<int> keep_open_choices(const Space& space, TimingTable& table) {
  std::vector<int> open;
  for (std::size_t i = 0; i < space.choices.size(); ++i) {
    const Choice& choice = space.choices[i];
    if (choice.values.size() == 1) {
      table.facts.emplace_back("fixed", fmt::format("{} {}", choice.name, choice.values[0]));
      continue;
    }
    table.choices.push_back(choice);
    open.push_back(static_cast<int>(i));
  }
  return open;
}

/// Times of the search and of the rounds were taken minutes apart. By what the machine has drifted
/// between them, the median over the schedules that have both, the others are corrected; none of
/// them, having lost the search, passes for faster than the best of the rounds.
void correct_drift(const std::map<std::string, TrialRecord>& trials, TimingTable& table) {
  std::vector<double> drifts;
  for (const TimingRow& row : table.rows) {
    const Measured& search = trials.at(row.schedule).search;
    if (row.confirmed && search.n > 0) drifts.push_back(row.seconds / search.min);
  }
  if (drifts.empty()) return;
  const double drift = median(drifts);
  const double best = best_seconds(table);
  for (TimingRow& row : table.rows) {
    if (row.seconds > 0.0 && !row.confirmed) row.seconds = std::max(best, row.seconds * drift);
  }
}

Space part_of(const TuneRequest& request, const Layer& layer) {
  return reduced(problem_space(layer.problem, request.conditions, request.station.machine,
                               request.station.limits),
                 request.part, request.seed);
}

/// Whose model predicted, and what it thought of the machine.
std::string predictor(const Station& station) {
  const Limits& limits = station.limits;
  return fmt::format("{}; FLOP/s {:.3g}, bytes/s of L1 {:.3g}, L2 {:.3g}, L3 {:.3g}, memory {:.3g}",
                     station.build, limits.peak_flops, limits.l1_bandwidth, limits.l2_bandwidth,
                     limits.l3_bandwidth, limits.dram_bandwidth);
}

}  // namespace

TuneRequest table_request(TuneRequest request, std::int64_t size) {
  request.strategy = "random";
  request.part = size;
  request.finalists = kFinalists;
  request.rounds = kRounds;
  request.budget = {};
  return request;
}

MeasuredTable measured_table(const TuneRequest& request, const Layer& layer, const Store& store) {
  const TrialContext context{
      .problem = layer.problem, .conditions = request.conditions, .station = request.station};
  const Space space = part_of(request, layer);
  std::map<std::string, TrialRecord> trials;
  for (TrialRecord& trial : store.trials(key_of(context, false)))
    trials[trial.choice] = std::move(trial);
  MeasuredTable measured;
  TimingTable& table = measured.table;
  table.name = layer.label;
  table.facts = {{"layer", layer.label},
                 {"problem", to_string(layer.problem)},
                 {"conditions", to_string(request.conditions)},
                 {"machine", request.station.machine.id},
                 {"build", request.station.build},
                 {"part", fmt::format("at most {} schedules, seed {}", request.part, request.seed)},
                 {kPredictor, predictor(request.station)}};
  const std::vector<int> open = keep_open_choices(space, table);
  walk(space, [&](const Point& point) {
    const auto found = trials.find(space.text(point));
    if (found == trials.end()) {
      ++measured.missing;
    } else {
      table.rows.push_back(row_of(space, point, open, found->second));
    }
    return true;
  });
  correct_drift(trials, table);
  return measured;
}

std::int64_t predict_again(const TuneRequest& request, const Layer& layer, TimingTable& table) {
  const Space space = part_of(request, layer);
  std::map<std::string, double> predictions;
  walk(space, [&](const Point& point) {
    predictions[space.text(point)] = space.predict(point);
    return true;
  });
  std::int64_t lost = 0;
  for (TimingRow& row : table.rows) {
    const auto found = predictions.find(row.schedule);
    if (found == predictions.end()) {
      ++lost;
    } else {
      row.predicted = found->second;
    }
  }
  std::erase_if(table.facts, [](const auto& fact) { return fact.first == kPredictor; });
  table.facts.emplace_back(kPredictor, predictor(request.station));
  return lost;
}

}  // namespace loopbrick
