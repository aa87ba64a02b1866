#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "trials/bench.h"
#include "tuner/space.h"
#include "tuner/strategy.h"

namespace loopbrick {

/// Checks and times one choice: a worker, a stored table, another machine.
using Evaluate = std::function<Attempt(const std::string& choice, const Sampling& sampling)>;

/// A choice that was evaluated, now or in an earlier run.
struct Candidate {
  Point point;
  std::string choice;
  Fidelity fidelity = Fidelity::measure;
  bool ok = false;
  /// The fastest sample: what disturbs a search only ever adds to a time, and often to most of the
  /// samples of a candidate. The rounds of the finalists decide by medians.
  double seconds = 0.0;
  std::int64_t trial = 0;  ///< id in the store
};

/// What a search needs of the world.
struct SearchTools {
  /// What earlier runs found, oldest first: the search goes on from there.
  std::vector<Candidate> known{};
  /// An answer that an earlier run has for a point that is not in `known`; may be empty.
  std::function<std::optional<Candidate>(const std::string& choice, const Ask& ask)> recall{};
  Evaluate evaluate;
  /// Screens on a smaller problem, whose seconds times screen_scale() are those of the whole;
  /// empty: evaluate screens.
  Evaluate screen{};
  std::function<double()> screen_scale{};
  /// Called with every new answer; returns its trial's id.
  std::function<std::int64_t(const Candidate& candidate, const Attempt& attempt)> keep;
  /// Asked before every evaluation; false ends the search.
  std::function<bool()> go_on;
};

/// Lets the strategy ask and evaluates its questions, until either is done. In the order they were
/// answered.
std::vector<Candidate> search(const Space& space, const Strategy& strategy,
                              const Sampling& sampling, const SearchTools& tools);

/// Whether `samples` of this many is a measurement and not just single calls.
bool is_measurement(std::size_t samples, const Sampling& sampling);

/// The `most` fastest, each choice once; those that were measured, or if there are none, screened.
/// Ties are broken by text.
std::vector<Candidate> fastest(const std::vector<Candidate>& candidates, std::size_t most);

}  // namespace loopbrick
