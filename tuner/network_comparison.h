#pragma once
#include <string>

#include "tuner/compare.h"

namespace loopbrick {

/// Ours and the others over a whole network: one pass runs every layer, as often as it counts, and
/// is one time. Passes forward come in the order of the request, then those backward in the
/// opposite order, as training runs them.
///
/// First every arm is checked on every layer. An arm that fails on one has a row with that outcome,
/// and the layer in its reason; where it is ours, nobody is timed. Ours is our_choice of each
/// layer; its row is "tuned" if all are.
///
/// The rows are those of compare, one for each arm, with `name` for the layer. Nothing is stored:
/// the database knows problems, and a network is none.
/// Errors  throws NoMemory, std::runtime_error when a worker is lost.
CompareReport compare_network(const CompareRequest& request, const std::string& name, Store& store,
                              const CompareWatcher& watcher,
                              const std::atomic<bool>* stop = nullptr);

}  // namespace loopbrick
