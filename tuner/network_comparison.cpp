#include "tuner/network_comparison.h"

#include <algorithm>
#include <fmt/format.h>

#include "trials/network.h"
#include "tuner/our_choice.h"
#include "tuner/record.h"

namespace loopbrick {

namespace {

bool is_backward(const Layer& layer) {
  return layer.problem.pass != Pass::fwd && layer.problem.pass != Pass::train;
}

/// Forward passes, then the backward passes of the last layer, of the one before it, and so on;
/// those of one layer stay in their order.
std::vector<Layer> as_training_runs(const std::vector<Layer>& layers) {
  std::vector<Layer> ordered, backward;
  for (const Layer& layer : layers) (is_backward(layer) ? backward : ordered).push_back(layer);
  const auto first_place = [&layers](const Layer& layer) {
    return std::find_if(layers.begin(), layers.end(),
                        [&layer](const Layer& other) { return other.label == layer.label; });
  };
  std::stable_sort(backward.begin(), backward.end(), [&](const Layer& left, const Layer& right) {
    return first_place(left) > first_place(right);
  });
  ordered.insert(ordered.end(), backward.begin(), backward.end());
  return ordered;
}

/// One implementation over the whole network.
struct Entrant {
  NetworkArms arms;
  std::string name;
  Attempt attempt;  ///< until it is timed: whether it is right
};

class NetworkComparison {
 public:
  NetworkComparison(const CompareRequest& request, const std::string& name, Store& store)
      : request_(request), name_(name), store_(store), layers_(as_training_runs(request.layers)) {
    enter_ours();
    for (const Arm& arm : request.arms) {
      entrants_.push_back(
          {.arms = NetworkArms(layers_.size(), arm), .name = text(arm), .attempt = {}});
    }
  }

  /// Every arm that is still right, on one layer after the other. False if it was stopped.
  bool check(const CompareWatcher& watcher, const std::atomic<bool>* stop) {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      if (stop != nullptr && stop->load()) return false;
      if (watcher) watcher(layers_[i].label, static_cast<int>(i), static_cast<int>(layers_.size()));
      check_layer(i);
    }
    return true;
  }

  /// False if it was stopped.
  bool time() {
    if (!is_right(entrants_.front())) return true;
    std::vector<std::size_t> right;
    std::vector<NetworkArms> ways;
    for (std::size_t i = 0; i < entrants_.size(); ++i) {
      if (!is_right(entrants_[i])) continue;
      right.push_back(i);
      ways.push_back(entrants_[i].arms);
    }
    Rounds rounds = time_network(network(), ways, request_.rounds, request_.bench);
    if (rounds.stopped) return false;
    if (!rounds.peak_flops.empty()) peak_ = median(rounds.peak_flops);
    for (std::size_t i = 0; i < right.size(); ++i) {
      Attempt& attempt = entrants_[right[i]].attempt;
      rounds.arms[i].flag = attempt.flag;
      attempt = std::move(rounds.arms[i]);
    }
    return true;
  }

  std::vector<CompareRow> rows() const {
    std::vector<CompareRow> rows;
    for (std::size_t i = 0; i < entrants_.size(); ++i) rows.push_back(row(entrants_[i], i == 0));
    for (std::size_t i = 1; i < entrants_.size(); ++i) {
      const auto ratio = ratio_of(entrants_[0].attempt, entrants_[i].attempt, request_.rounds.seed);
      if (ratio) judge(*ratio, request_.station.limits.noise_floor, rows[i]);
    }
    return rows;
  }

 private:
  static bool is_right(const Entrant& entrant) { return entrant.attempt.outcome == "ok"; }

  void enter_ours() {
    Entrant ours{.arms = {}, .name = "tuned", .attempt = {}};
    for (const Layer& layer : layers_) {
      const TrialContext context{
          .problem = layer.problem, .conditions = request_.conditions, .station = request_.station};
      const OurChoice choice = our_choice(context, request_.bench.seed, store_);
      ours.arms.push_back({kOurs, choice.schedule});
      if (ours.name != "model" && choice.origin != "tuned") ours.name = choice.origin;
    }
    entrants_.push_back(std::move(ours));
  }

  void check_layer(std::size_t i) {
    Bench bench(layers_[i].problem, request_.conditions, request_.bench);
    for (Entrant& entrant : entrants_) {
      if (!is_right(entrant)) continue;
      const Attempt attempt = bench.check(entrant.arms[i]);
      if (!attempt.flag.empty() && entrant.attempt.flag.empty())
        entrant.attempt.flag = fmt::format("{}: {}", layers_[i].label, attempt.flag);
      if (attempt.outcome == "ok") continue;
      entrant.attempt.outcome = attempt.outcome;
      entrant.attempt.reason = fmt::format("{}: {}", layers_[i].label, attempt.reason);
    }
  }

  Network network() const {
    Network network{.layers = {}, .conditions = request_.conditions, .seed = request_.bench.seed};
    for (const Layer& layer : layers_)
      network.layers.push_back(
          {.label = layer.label, .problem = layer.problem, .count = layer.count});
    return network;
  }

  double flops_of_all() const {
    double sum = 0.0;
    for (const Layer& layer : layers_)
      sum += static_cast<double>(layer.count) * flops(layer.problem);
    return sum;
  }

  std::string description() const {
    std::int64_t runs = 0;
    for (const Layer& layer : layers_) runs += layer.count;
    return fmt::format("{} problems, {} runs", layers_.size(), runs);
  }

  CompareRow row(const Entrant& entrant, bool is_ours) const {
    CompareRow row{.layer = name_, .problem = description(), .impl = entrant.name};
    row.is_ours = is_ours;
    row.outcome = entrant.attempt.outcome;
    row.reason = entrant.attempt.reason;
    row.flag = entrant.attempt.flag;
    const Measured measured = summarize(entrant.attempt.samples);
    if (measured.n == 0) return row;
    row.median_s = measured.median;
    row.gflops = flops_of_all() / row.median_s * 1e-9;
    if (peak_ > 0.0) row.pct_of_peak = 100.0 * flops_of_all() / row.median_s / peak_;
    return row;
  }

  const CompareRequest& request_;
  const std::string& name_;
  Store& store_;
  std::vector<Layer> layers_;
  std::vector<Entrant> entrants_;  ///< ours first
  double peak_ = 0.0;
};

}  // namespace

CompareReport compare_network(const CompareRequest& request, const std::string& name, Store& store,
                              const CompareWatcher& watcher, const std::atomic<bool>* stop) {
  NetworkComparison comparison(request, name, store);
  CompareReport report;
  report.interrupted = !comparison.check(watcher, stop) || !comparison.time();
  if (!report.interrupted) report.rows = comparison.rows();
  return report;
}

}  // namespace loopbrick
