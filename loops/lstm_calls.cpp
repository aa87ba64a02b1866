#include "loops/lstm_calls.h"

namespace loopbrick {

LstmCalls::LstmCalls(const Contraction& contraction, const Step& step, const PostOps& post,
                     const Conditions& conditions, KernelCache& kernels)
    : contraction_(contraction),
      places_(places_of(contraction)),
      outer_(outer_axes(contraction)),
      rounds_(step, conditions.threads),
      table_(contraction, step, contraction.a, contraction.b, post, conditions, kernels) {
  for (const Axis axis : contraction.sums) sums_.push_back(place(axis));
}

std::vector<LstmCalls::Place> LstmCalls::places_of(const Contraction& contraction) {
  std::vector<Place> places;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(kFlattened); ++axis) {
    if (contraction.extents[axis] == kNoAxis) continue;
    places.push_back({.axis = axis,
                      .a = contraction.a[axis],
                      .b = contraction.b[axis],
                      .c = contraction.c[axis]});
    if (axis == place(Axis::k)) places.back().bias = 1;
    if (axis == place(Axis::g)) places.back().bias = contraction.extent(Axis::k);
  }
  return places;
}

Ranges LstmCalls::whole() const {
  Ranges ranges{};
  for (const Place& place : places_) ranges[place.axis] = {0, contraction_.extents[place.axis]};
  return ranges;
}

bool LstmCalls::finishes(const Ranges& ranges) const noexcept {
  for (const std::size_t axis : sums_) {
    if (ranges[axis].end < contraction_.extents[axis]) return false;
  }
  return true;
}

void LstmCalls::call(const Ranges& ranges, const Operands& operands, BatchAddress* scratch,
                     bool adds) const noexcept {
  Operands at = operands;
  for (const Place& place : places_) {
    const std::int64_t begin = ranges[place.axis].begin;
    at.a += place.a.offset(begin);
    at.b += place.b.offset(begin);
    at.c += place.c.offset(begin);
    if (at.bias != nullptr) at.bias += place.bias * begin;
  }
  const auto range = [&ranges](Axis axis) { return ranges[place(axis)]; };
  CallSite site{.columns = range(contraction_.columns).size(),
                .lines = 1,
                .rows = range(contraction_.row).size(),
                .depth = range(contraction_.depth).size(),
                .first_row = range(contraction_.row).begin,
                .first = !adds,
                .last = finishes(ranges)};
  for (int i = 0; i < outer_.size(); ++i)
    site.outer[static_cast<std::size_t>(i)] = range(outer_[i]).size();
  for (const std::size_t axis : sums_) site.first = site.first && ranges[axis].begin == 0;
  table_.call(site, at, scratch);
}

void LstmCalls::run(int number, const Operands& operands, BatchAddress* scratch,
                    bool adds) const noexcept {
  Ranges ranges = whole();
  rounds_.visit(number, ranges, [&] { call(ranges, operands, scratch, adds); });
}

}  // namespace loopbrick
