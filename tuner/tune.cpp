#include "tuner/tune.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "tuner/layer_tuner.h"
#include "tuner/problem_space.h"
#include "tuner/reduced_space.h"

namespace loopbrick {

namespace {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What is left of the whole budget, dealt to the layers that are left.
class Purse {
 public:
  Purse(const TuneRequest& request, double now) : budget_(request.budget), started_(now) {
    double all = 0.0;
    for (const Layer& layer : request.layers) all += work(layer);
    const auto equal = 1.0 / static_cast<double>(request.layers.size());
    // Half by work, half alike: a small layer has as many schedules as a large one.
    for (const Layer& layer : request.layers)
      weights_.push_back(0.5 * work(layer) / all + 0.5 * equal);
  }

  /// The share of layer `index`, of what the ones before it have left over.
  LayerBudget share(std::size_t index, double now, std::int64_t trials) const {
    double open = 0.0;
    for (std::size_t i = index; i < weights_.size(); ++i) open += weights_[i];
    const double part = weights_[index] / open;
    LayerBudget share{.stale = budget_.stale};
    if (budget_.seconds > 0.0) share.seconds = std::max(1e-3, part * left(now));
    if (budget_.trials > 0) {
      const auto open_trials =
          static_cast<double>(std::max<std::int64_t>(0, budget_.trials - trials));
      share.trials = std::max<std::int64_t>(1, static_cast<std::int64_t>(part * open_trials + 0.5));
    }
    return share;
  }

  double left(double now) const {
    return budget_.seconds > 0.0 ? std::max(0.0, budget_.seconds - (now - started_)) : 0.0;
  }

 private:
  static double work(const Layer& layer) {
    return std::max(1.0, flops(layer.problem)) *
           static_cast<double>(std::max<std::int64_t>(1, layer.count));
  }

  Budget budget_;
  double started_;
  std::vector<double> weights_;
};

TunedLayer refused(const Layer& layer, const std::string& reason) {
  TunedLayer tuned;
  tuned.label = layer.label;
  tuned.problem = to_string(layer.problem);
  tuned.flops = flops(layer.problem);
  tuned.refusal = reason;
  return tuned;
}

Measurer measurer_of(Bench& bench) {
  return {.evaluate =
              [&bench](const std::string& choice, const Sampling& sampling) {
                return bench.attempt({kOurs, choice}, sampling);
              },
          .rounds = [&bench](std::span<const Arm> arms,
                             const RoundPlan& plan) { return bench.rounds(arms, plan); }};
}

bool must_stop(const TuneWatcher& watcher) {
  return watcher.stop != nullptr && watcher.stop->load();
}

/// A layer that has no loops or does not fit into memory is a reason in the report and no end of
/// the others.
TunedLayer tune_layer(const TuneRequest& request, const Layer& layer, LayerTuner& tuner,
                      const LayerBudget& share, std::set<std::string>& failed_before,
                      TuneProgress& progress) {
  const Space whole = problem_space(layer.problem, request.conditions, request.station.machine,
                                    request.station.limits);
  const Space space = request.part > 0 ? reduced(whole, request.part, request.seed) : whole;
  if (const auto refusal = space.why_not({})) return refused(layer, to_string(*refusal));
  try {
    Bench bench(layer.problem, request.conditions, request.bench);
    return tuner.run(space, measurer_of(bench), share, failed_before, progress);
  } catch (const NoMemory& error) {
    return refused(layer, error.what());
  }
}

}  // namespace

TuneReport tune(const TuneRequest& request, Store& store, const TuneWatcher& watcher) {
  TuneReport report;
  std::set<std::string> failed_before;
  const std::function<double()> now = steady_seconds;
  const Purse purse(request, now());
  std::int64_t trials = 0;
  for (std::size_t i = 0; i < request.layers.size() && !must_stop(watcher); ++i) {
    const Layer& layer = request.layers[i];
    TuneProgress progress{.layer = layer.label,
                          .layers_done = static_cast<int>(i),
                          .layers = static_cast<int>(request.layers.size()),
                          .seconds_left = purse.left(now()),
                          .phase = "prepare"};
    if (watcher.progress) watcher.progress(progress);
    LayerTuner tuner(request, layer, store, watcher, now);
    report.layers.push_back(
        tune_layer(request, layer, tuner, purse.share(i, now(), trials), failed_before, progress));
    trials += report.layers.back().trials;
  }
  report.interrupted = must_stop(watcher);
  return report;
}

}  // namespace loopbrick
