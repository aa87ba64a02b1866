#include "tuner/purse.h"

#include <algorithm>
#include <numeric>

namespace loopbrick {

namespace {

/// With fewer layers all have the same turn.
constexpr std::size_t kFewestLayers = 4;

constexpr double kHeldBack = 0.3;

/// One of so many layers has a second turn: preparing one costs as much as a dozen trials.
constexpr std::size_t kLayersToOne = 4;

/// Of the way to the peak, where the first turn's curve says nothing.
constexpr double kHope = 0.05;

}  // namespace

double expected_gain(const TunedLayer& tuned, double count) {
  if (tuned.trial == 0) return 0.0;
  const double ideal = tuned.peak_flops > 0.0 ? tuned.flops / tuned.peak_flops : tuned.seconds;
  return count * std::max(tuned.late_gain, kHope * std::max(0.0, tuned.seconds - ideal));
}

Purse::Purse(const TuneRequest& request, double now) : budget_(request.budget), started_(now) {
  double all = 0.0;
  for (const Layer& layer : request.layers) {
    counts_.push_back(static_cast<double>(std::max<std::int64_t>(1, layer.count)));
    weights_.push_back(std::max(1.0, flops(layer.problem)) * counts_.back());
    all += weights_.back();
  }
  const auto layers = static_cast<double>(request.layers.size());
  for (double& weight : weights_) weight = 0.5 * weight / all + 0.5 / layers;
  // A second turn goes on where the first one ended: it must know it.
  const bool is_limited = budget_.seconds > 0.0 || budget_.trials > 0;
  if (is_limited && request.resume && request.layers.size() >= kFewestLayers)
    held_back_ = kHeldBack;
}

LayerBudget Purse::share(double part, double seconds, double trials) const {
  LayerBudget share{.stale = budget_.stale};
  if (budget_.seconds > 0.0) share.seconds = std::max(1e-3, part * seconds);
  if (budget_.trials > 0) {
    share.trials =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(part * std::max(0.0, trials) + 0.5));
  }
  return share;
}

LayerBudget Purse::first_share(std::size_t index, double now, std::int64_t trials) const {
  const double open =
      std::accumulate(weights_.begin() + static_cast<std::ptrdiff_t>(index), weights_.end(), 0.0);
  const double first = 1.0 - held_back_;
  return share(weights_[index] / open, left(now) - held_back_ * budget_.seconds,
               first * static_cast<double>(budget_.trials) - static_cast<double>(trials));
}

std::vector<Purse::Second> Purse::second_turn(const std::vector<TunedLayer>& tuned) const {
  if (held_back_ == 0.0 || tuned.size() < counts_.size()) return {};
  std::vector<double> gains;
  std::vector<Second> seconds;
  for (std::size_t i = 0; i < tuned.size(); ++i) {
    gains.push_back(expected_gain(tuned[i], counts_[i]));
    if (gains[i] > 0.0) seconds.push_back({.layer = i});
  }
  std::stable_sort(seconds.begin(), seconds.end(), [&](const Second& left, const Second& right) {
    return gains[left.layer] > gains[right.layer];
  });
  seconds.resize(std::min(seconds.size(), tuned.size() / kLayersToOne));
  double rest = 0.0;
  for (auto second = seconds.rbegin(); second != seconds.rend(); ++second) {
    rest += gains[second->layer];
    second->part = gains[second->layer] / rest;
  }
  return seconds;
}

LayerBudget Purse::second_share(const Second& second, double now, std::int64_t trials) const {
  return share(second.part, left(now),
               static_cast<double>(budget_.trials) - static_cast<double>(trials));
}

double Purse::left(double now) const {
  return budget_.seconds > 0.0 ? std::max(0.0, budget_.seconds - (now - started_)) : 0.0;
}

}  // namespace loopbrick
