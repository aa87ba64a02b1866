#pragma once
#include <optional>
#include <string>
#include <vector>

#include "results/store.h"
#include "tuner/record.h"
#include "tuner/space.h"

namespace loopbrick {

/// How unlike two problems are: the sum over their sizes of the logarithm (base 2) of the larger
/// over the smaller. Nothing if one's schedules mean nothing to the other: another kind, pass,
/// type, layout or filter.
std::optional<double> unlikeness(const Problem& left, const Problem& right);

/// The point of `to` that is most like a point of another space: every choice takes the value of
/// the same text, else the one at the same place of its list, else the nearest that is not refused.
/// Nothing if that leads to a dead end.
std::optional<Point> counterpart(const Space& to, const Space& from, const Point& point);

/// What the best schedules of the most alike problems that the store knows, under the same
/// conditions on the same machine, become in `space`: the most alike first, at most two.
std::vector<std::string> transferred_schedules(const Space& space, const TrialContext& context,
                                               const Store& store);

}  // namespace loopbrick
