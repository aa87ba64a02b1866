#include <algorithm>

#include "loops/step_facts.h"
#include "tuner/by_data_letters.h"
#include "tuner/conv_space.h"

// What a point of a convolution's space means, and which prefixes mean the same for what follows.

namespace loopbrick {

namespace {

/// Mixes one more value into a hash.
std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
  return hash ^ (hash >> 29U);
}

}  // namespace

/// One loop of the text; c stands for all loops of the sum.
void ConvSpace::add_loop(Step& step, const Point& point, Slot slot) const {
  const Pixels& pixels = chosen(pixels_, point, kPixels);
  Loop loop{.axis = Axis::p};
  switch (slot) {
    case Slot::n:
      loop.axis = Axis::n;
      break;
    case Slot::k_outer:
      loop.axis = Axis::k;
      loop.step = chosen(k_outers_, point, kKOuter);
      break;
    case Slot::k:
      loop.axis = Axis::k;
      loop.step = chosen(cols_, point, kCols);
      break;
    case Slot::p_outer:
      loop.step = chosen(p_outers_, point, kPOuter);
      break;
    case Slot::p:
      loop.step = pixels.flat ? pixels.q : pixels.p;
      if (pixels.flat) loop.fused = Axis::q;
      break;
    case Slot::q:
      loop.axis = Axis::q;
      loop.step = pixels.q;
      break;
    case Slot::c:
      return add_sum_loops(step, point);
  }
  if (has(chosen(shares_, point, kShare), slot)) {
    const Ways& ways = chosen(ways_, point, kWays);
    loop.parallel = true;
    loop.ways = static_cast<std::int16_t>(slot == Slot::n           ? ways.n
                                          : has(kColumnSlots, slot) ? ways.k
                                                                    : ways.p);
  }
  step.elements.push_back({.loop = loop, .pack = {}});
}

void ConvSpace::add_sum_loops(Step& step, const Point& point) const {
  const auto add = [&step](Axis axis, int by) {
    step.elements.push_back({.loop = {.axis = axis, .step = by}, .pack = {}});
  };
  const int sum = chosen(sums_, point, kSum);
  const Taps taps = chosen(taps_, point, kTaps);
  if (sum != 0) add(Axis::c, sum);
  if (taps != Taps::batch && conv_.r > 1) add(Axis::r, 1);
  if (taps == Taps::rs_looped) add(Axis::s, 1);
}

void ConvSpace::add_call(Step& step, const Point& point) const {
  const Taps taps = chosen(taps_, point, kTaps);
  const int depth = chosen(depths_, point, kDepth);
  const int sum = chosen(sums_, point, kSum);
  Sum call{.axis = Axis::c, .depth = depth, .batch = {}};
  if (depth < (sum == 0 ? conv_.c : sum)) call.batch.push_back(Axis::c);
  if (conv_.r > 1 && taps == Taps::batch) call.batch.push_back(Axis::r);
  if (conv_.s > 1 && taps != Taps::rs_looped) call.batch.push_back(Axis::s);
  step.sums.push_back(call);
}

Marks ConvSpace::marks(const Point& point) const {
  const RegisterTile& tile = chosen(tiles_, point, kTile);
  Marks marks;
  marks.tile_rows = tile.rows;
  marks.tile_cols = tile.cols;
  marks.batch = chosen(batches_, point, kBatch);
  marks.rim = chosen(rims_, point, kRim);
  marks.stream = chosen(streams_, point, kStream) != 0;
  marks.ahead = chosen(aheads_, point, kAhead);
  if (chosen(rotates_, point, kRotate) != 0) marks.rotate = Axis::k;
  if (chosen(nexts_, point, kNext) != 0) marks.next = next_axis(point);
  return marks;
}

/// Loops of several rounds in the chosen order; behind them those of one round, which only name the
/// tile.
Schedule ConvSpace::forward_schedule(const Point& point) const {
  Schedule schedule;
  schedule.steps.push_back({});
  Step& step = schedule.steps.back();
  const Slots several = many(point);
  const std::optional<Slot> packed_in = chosen(packs_, point, kPack);
  for (const Slot slot : LoopOrders::all()[point[kOrder]]) {
    if (!has(several, slot)) continue;
    add_loop(step, point, slot);
    if (packed_in == slot) {
      step.elements.push_back({.loop = {}, .pack = {.operand = {'x'}, .transposed = false}});
    }
    if (slot == Slot::k && chosen(weights_, point, kWeights) != 0) {
      step.elements.push_back({.loop = {}, .pack = {.operand = {'w'}, .transposed = true}});
    }
  }
  for (const Slot slot : {Slot::k, Slot::p, Slot::q}) {
    const bool is_named = slot != Slot::q || !chosen(pixels_, point, kPixels).flat;
    if (!has(several, slot) && is_named) add_loop(step, point, slot);
  }
  add_call(step, point);
  step.marks = marks(point);
  return schedule;
}

Schedule ConvSpace::schedule(const Point& point) const {
  const Schedule schedule = forward_schedule(point);
  if (!is_by_data_) return schedule;
  const Schedule by_data = by_data_letters(schedule, has_phases_);
  return conditions_.transposes_once ? with_weights_once(by_data) : by_data;
}

/// Everything that later rules look at, and as little else as is simple to leave out.
std::uint64_t ConvSpace::state(const Point& point) const {
  const int fixed = point.size();
  std::uint64_t hash = 0;
  const auto add = [&hash](auto value) { hash = mixed(hash, static_cast<std::uint64_t>(value)); };
  if (fixed <= kStream) {
    for (const std::uint16_t value : point) add(value);
    return hash;
  }
  add(is_summed_at_once(point));
  add(chosen(taps_, point, kTaps) == Taps::batch);
  add(chosen(batches_, point, kBatch) == BatchForm::stride);
  if (fixed <= kOrder) {
    add(point[kCols]);
    for (const Place place : {kPixels, kKOuter, kPOuter}) {
      if (fixed > place) add(point[place]);
    }
    return hash;
  }
  const Pixels& pixels = chosen(pixels_, point, kPixels);
  if (fixed > kShare) add(next_axis(point));
  add(tile_class_[point[kPixels] * cols_.size() + point[kCols]]);
  if (fixed > kRim) return hash;
  add(pixels.flat);
  add(pixels.p > 1);
  if (fixed > kPack) {
    const bool packs = chosen(packs_, point, kPack).has_value();
    add(packs);
    add(packs && is_read_again(point));
    if (fixed > kWeights) return hash;
    add(point[kOrder]);
    add(point[kShare]);
    add(many(point));
    return hash;
  }
  add(many(point));
  add(point[kOrder]);
  if (fixed > kShare) add(point[kShare]);
  if (fixed > kWays) return hash;
  for (const std::int64_t each : rounds(point)) {
    add(std::min<std::int64_t>(each, conditions_.threads + 1));
  }
  return hash;
}

}  // namespace loopbrick
