#include <algorithm>
#include <iterator>

#include "loops/step_facts.h"
#include "tuner/by_data_letters.h"
#include "tuner/conv_space.h"

// From a schedule back to the point that means it.

namespace loopbrick {

namespace {

/// The place of a value in a choice, or nothing: then no point means the schedule.
template <typename T, typename Same>
std::optional<std::uint16_t> index_if(const std::vector<T>& values, Same same) {
  const auto found = std::find_if(values.begin(), values.end(), same);
  if (found == values.end()) return std::nullopt;
  return static_cast<std::uint16_t>(found - values.begin());
}

template <typename T>
std::optional<std::uint16_t> index_of_value(const std::vector<T>& values, const T& value) {
  return index_if(values, [&value](const T& each) { return each == value; });
}

/// What the loops of a step say, as the choices name it.
struct Reading {
  int cols = 0, k_outer = 0;
  int p = 1, q = 1, p_outer = 0;
  int sum = 0;
  bool flat = false, r_looped = false, s_looped = false;
  std::vector<Slot> order;  ///< as written, loops of one round too
  Slots shared = 0;
  int ways_n = 0, ways_k = 0, ways_p = 0;
  std::optional<Slot> packed_in;
  bool packs_weights = false;
};

/// Which slot a loop is: the last one over k and over p is the call's own.
std::optional<Slot> slot_of(const Step& step, int at) {
  const Loop& loop = step.elements[at].loop;
  const auto is_last = [&step, at, &loop] {
    for (int i = at + 1; i < step.elements.size(); ++i) {
      if (!step.elements[i].is_pack() && step.elements[i].loop.axis == loop.axis) return false;
    }
    return true;
  };
  switch (loop.axis) {
    case Axis::n:
      return Slot::n;
    case Axis::k:
      return is_last() ? Slot::k : Slot::k_outer;
    case Axis::p:
      return is_last() ? Slot::p : Slot::p_outer;
    case Axis::q:
      return Slot::q;
    case Axis::c:
    case Axis::r:
    case Axis::s:
      return Slot::c;
    default:
      return std::nullopt;
  }
}

void read_loop(const Loop& loop, Slot slot, Reading& reading) {
  if (loop.parallel) reading.shared = static_cast<Slots>(reading.shared | bit(slot));
  switch (slot) {
    case Slot::n:
      reading.ways_n = loop.ways;
      break;
    case Slot::k_outer:
    case Slot::k:
      (slot == Slot::k ? reading.cols : reading.k_outer) = loop.step;
      if (loop.parallel) reading.ways_k = loop.ways;
      break;
    case Slot::p_outer:
      reading.p_outer = loop.step;
      if (loop.parallel) reading.ways_p = loop.ways;
      break;
    case Slot::p:
      reading.flat = loop.fused != Axis::none;
      (reading.flat ? reading.q : reading.p) = loop.step;
      if (loop.parallel) reading.ways_p = loop.ways;
      break;
    case Slot::q:
      reading.q = loop.step;
      if (loop.parallel) reading.ways_p = loop.ways;
      break;
    case Slot::c:
      if (loop.axis == Axis::c) reading.sum = loop.step;
      if (loop.axis == Axis::r) reading.r_looped = true;
      if (loop.axis == Axis::s) reading.s_looped = true;
      break;
  }
}

std::optional<Reading> read(const Step& step) {
  Reading reading;
  for (int i = 0; i < step.elements.size(); ++i) {
    if (step.elements[i].is_pack()) {
      if (reading.order.empty()) return std::nullopt;
      const bool is_input = step.elements[i].pack.operand[0] == 'x';
      if (is_input) reading.packed_in = reading.order.back();
      reading.packs_weights = reading.packs_weights || !is_input;
      continue;
    }
    const std::optional<Slot> slot = slot_of(step, i);
    if (!slot) return std::nullopt;
    if (reading.order.empty() || reading.order.back() != *slot) reading.order.push_back(*slot);
    read_loop(step.elements[i].loop, *slot, reading);
  }
  return reading;
}

/// The order that is kept for these loops, or nothing.
std::optional<std::uint16_t> order_of(const std::vector<Slot>& written, Slots many) {
  const LoopOrders& orders = LoopOrders::all();
  std::vector<Slot> wanted;
  std::copy_if(written.begin(), written.end(), std::back_inserter(wanted),
               [many](Slot slot) { return has(many, slot); });
  for (int i = 0; i < orders.size(); ++i) {
    if (!orders.is_canonical(i, many)) continue;
    std::vector<Slot> kept;
    std::copy_if(orders[i].begin(), orders[i].end(), std::back_inserter(kept),
                 [many](Slot slot) { return has(many, slot); });
    if (kept == wanted) return static_cast<std::uint16_t>(i);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Point> ConvSpace::point(const Schedule& schedule) const {
  const bool is_once = is_by_data_ && conditions_.transposes_once;
  const bool has_form = is_once ? transposes_once(schedule) : schedule.steps.size() == 1;
  if (!has_form || main_step(schedule).sums.size() != 1) return std::nullopt;
  const Step step = main_step(is_by_data_ ? forward_letters(schedule) : schedule);
  const std::optional<Reading> reading = read(step);
  if (!reading) return std::nullopt;
  const Marks& marks = step.marks;
  const Taps taps = reading->s_looped   ? Taps::rs_looped
                    : reading->r_looped ? Taps::r_looped
                                        : Taps::batch;
  Point point;
  bool is_known = true;
  const auto fix = [&point, &is_known](std::optional<std::uint16_t> index) {
    is_known = is_known && index.has_value();
    point.push_back(index.value_or(0));
  };
  fix(index_of_value(cols_, reading->cols));
  fix(index_of_value(depths_, static_cast<int>(step.sums[0].depth)));
  fix(index_of_value(sums_, reading->sum));
  fix(index_of_value(taps_, taps));
  fix(index_of_value(batches_, marks.batch));
  fix(index_of_value(aheads_, marks.ahead));
  fix(index_of_value<std::uint8_t>(streams_, marks.stream ? 1 : 0));
  fix(index_if(pixels_, [&reading](const Pixels& each) {
    return each.flat == reading->flat && each.p == reading->p && each.q == reading->q;
  }));
  fix(index_of_value(k_outers_, reading->k_outer));
  fix(index_of_value(p_outers_, reading->p_outer));
  if (!is_known) return std::nullopt;
  fix(order_of(reading->order, many(point)));
  fix(index_of_value(shares_, reading->shared));
  fix(index_if(ways_, [&reading](const Ways& each) {
    if (reading->ways_n + reading->ways_k + reading->ways_p == 0) return each.n == 0;
    return each.n == std::max(1, reading->ways_n) && each.k == std::max(1, reading->ways_k) &&
           each.p == std::max(1, reading->ways_p);
  }));
  fix(index_of_value<std::uint8_t>(rotates_, marks.rotate == Axis::k ? 1 : 0));
  fix(index_of_value(packs_, reading->packed_in));
  fix(index_of_value<std::uint8_t>(weights_, reading->packs_weights ? 1 : 0));
  fix(index_of_value(rims_, marks.rim));
  fix(index_if(tiles_, [&marks](const RegisterTile& each) {
    return each.rows == marks.tile_rows && each.cols == marks.tile_cols;
  }));
  fix(index_of_value<std::uint8_t>(nexts_, marks.next == Axis::none ? 0 : 1));
  if (!is_known) return std::nullopt;
  return point;
}

}  // namespace loopbrick
