#include "tuner/tune.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "tuner/cut_problem.h"
#include "tuner/layer_tuner.h"
#include "tuner/problem_space.h"
#include "tuner/purse.h"
#include "tuner/reduced_space.h"

namespace loopbrick {

namespace {

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

TunedLayer refused(const Layer& layer, const std::string& reason) {
  TunedLayer tuned;
  tuned.label = layer.label;
  tuned.problem = to_string(layer.problem);
  tuned.flops = flops(layer.problem);
  tuned.refusal = reason;
  return tuned;
}

Evaluate evaluate_on(Bench& bench) {
  return [&bench](const std::string& choice, const Sampling& sampling) {
    return bench.attempt({kOurs, choice}, sampling);
  };
}

Measurer measurer_of(Bench& bench) {
  return {.evaluate = evaluate_on(bench),
          .rounds = [&bench](std::span<const Arm> arms, const RoundPlan& plan) {
            return bench.rounds(arms, plan);
          }};
}

bool must_stop(const TuneWatcher& watcher) {
  return watcher.stop != nullptr && watcher.stop->load();
}

/// A layer that has no loops, does not fit into memory or was stopped in the middle of a trial is a
/// reason in the report and no end of the others.
TunedLayer tune_layer(const TuneRequest& request, const Layer& layer, LayerTuner& tuner,
                      const LayerBudget& share, std::set<std::string>& failed_before,
                      TuneProgress& progress) {
  const Space whole = problem_space(layer.problem, request.conditions, request.station.machine,
                                    request.station.limits);
  const Space space = request.part > 0 ? reduced(whole, request.part, request.seed) : whole;
  if (const auto refusal = space.why_not({})) return refused(layer, to_string(*refusal));
  try {
    Bench bench(layer.problem, request.conditions, request.bench);
    Measurer measurer = measurer_of(bench);
    measurer.cut = cut_problem(layer.problem);
    std::optional<Bench> of_cut;
    if (measurer.cut) {
      of_cut.emplace(*measurer.cut, request.conditions, request.bench);
      measurer.screen = evaluate_on(*of_cut);
    }
    return tuner.run(space, measurer, share, failed_before, progress);
  } catch (const NoMemory& error) {
    return refused(layer, error.what());
  } catch (const Stopped& stopped) {
    return refused(layer, stopped.what());
  }
}

/// One tune, layer by layer.
class Tune {
 public:
  Tune(const TuneRequest& request, Store& store, const TuneWatcher& watcher)
      : request_(request), store_(store), watcher_(watcher), purse_(request, now_()) {}

  TuneReport run() {
    const std::size_t layers = request_.layers.size();
    for (std::size_t i = 0; i < layers && !must_stop(watcher_); ++i)
      report_.layers.push_back(turn(i, i, purse_.first_share(i, now_(), trials_)));
    for (const Purse::Second& second : purse_.second_turn(report_.layers)) {
      if (must_stop(watcher_)) break;
      const LayerBudget share = purse_.second_share(second, now_(), trials_);
      add_turn(report_.layers[second.layer], turn(second.layer, layers, share));
    }
    report_.interrupted = must_stop(watcher_);
    return report_;
  }

 private:
  TunedLayer turn(std::size_t index, std::size_t done, const LayerBudget& share) {
    const Layer& layer = request_.layers[index];
    TuneProgress progress{.layer = layer.label,
                          .layers_done = static_cast<int>(done),
                          .layers = static_cast<int>(request_.layers.size()),
                          .seconds_left = purse_.left(now_()),
                          .phase = "prepare"};
    if (watcher_.progress) watcher_.progress(progress);
    LayerTuner tuner(request_, layer, store_, watcher_, now_);
    TunedLayer tuned = tune_layer(request_, layer, tuner, share, failed_before_, progress);
    trials_ += tuned.trials;
    return tuned;
  }

  /// The second turn knew the trials of the first one: what it confirms is the best of both.
  static void add_turn(TunedLayer& layer, TunedLayer second) {
    layer.trials += second.trials;
    layer.failures += second.failures;
    for (const auto& [reason, times] : second.reasons) layer.reasons[reason] += times;
    if (!second.is_confirmed) return;
    second.known = layer.known;
    second.trials = layer.trials;
    second.failures = layer.failures;
    second.reasons = layer.reasons;
    layer = std::move(second);
  }

  const TuneRequest& request_;
  Store& store_;
  const TuneWatcher& watcher_;
  const std::function<double()> now_ = steady_seconds;
  Purse purse_;
  TuneReport report_;
  std::set<std::string> failed_before_;
  std::int64_t trials_ = 0;
};

}  // namespace

TuneReport tune(const TuneRequest& request, Store& store, const TuneWatcher& watcher) {
  return Tune(request, store, watcher).run();
}

}  // namespace loopbrick
