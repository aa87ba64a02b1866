#pragma once
#include <cstdint>
#include <vector>

#include "tuner/layer_tuner.h"
#include "tuner/tune.h"

namespace loopbrick {

/// The budget of a whole tune, dealt to its layers in two turns.
///
/// First every layer has its turn: half of the budget for this is dealt by FLOPs times count, half
/// alike, since a small layer has as many schedules as a large one; what one leaves over goes to
/// the later ones. A part is held back where there are enough layers to choose from. It goes to the
/// layers that most can be expected of.
class Purse {
 public:
  /// `now` in seconds on any clock; so are all others.
  Purse(const TuneRequest& request, double now);

  /// The share of layer `index` in the first turn, when `trials` were made by those before it.
  LayerBudget first_share(std::size_t index, double now, std::int64_t trials) const;

  /// A layer of the second turn and its part of what is left when its turn comes.
  struct Second {
    std::size_t layer = 0;
    double part = 0.0;  ///< of the rest; the last one's is 1
  };
  /// Those that most is expected of, the most first; none where nothing was held back.
  std::vector<Second> second_turn(const std::vector<TunedLayer>& tuned) const;
  LayerBudget second_share(const Second& second, double now, std::int64_t trials) const;

  /// Seconds of the whole budget that are left; 0 if it has no such limit.
  double left(double now) const;

 private:
  LayerBudget share(double part, double seconds, double trials) const;

  Budget budget_;
  double started_;
  double held_back_ = 0.0;  ///< share of the budget
  std::vector<double> weights_;
  std::vector<double> counts_;
};

/// Seconds that another turn is expected to take off the layers of this kind: what the second half
/// of the trials brought, or if it was nothing, a little of the way to the peak; times count.
double expected_gain(const TunedLayer& tuned, double count);

}  // namespace loopbrick
