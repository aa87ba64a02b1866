#pragma once
#include <cstdint>

#include "results/store.h"
#include "tuner/record.h"
#include "tuner/timing_table.h"
#include "tuner/tune.h"

namespace loopbrick {

/// What a request that searches the whole part of a space needs for a table: points in random
/// order, so that a drift of the machine falls on all alike, and the fastest of them confirmed in
/// rounds.
TuneRequest table_request(TuneRequest request, std::int64_t size);

/// The table of what such a request has stored about one problem.
struct MeasuredTable {
  TimingTable table;
  std::int64_t missing = 0;  ///< points without a trial: the tune was stopped
};
MeasuredTable measured_table(const TuneRequest& request, const Layer& layer, const Store& store);

/// Predicts the rows of a table again, by the model of this build and the limits of the request's
/// station. Returns how many rows are no points of today's space: they keep what they have.
std::int64_t predict_again(const TuneRequest& request, const Layer& layer, TimingTable& table);

}  // namespace loopbrick
