#include <algorithm>

#include "tuner/conv_space.h"

// Which choices of a convolution go together. Every rule looks only at what is fixed up to its own
// choice.

namespace loopbrick {

namespace {

std::int64_t parts(std::int64_t total, std::int64_t step) { return (total + step - 1) / step; }

/// Loops of output axes: those that threads may share.
constexpr Slots kOutputs = static_cast<Slots>(~bit(Slot::c) & 0x7F);

/// The axis whose next round a prefetch can reach: the innermost loop over it.
std::optional<Axis> axis_over_x(Slot slot) {
  switch (slot) {
    case Slot::n:
      return Axis::n;
    case Slot::p:
      return Axis::p;
    case Slot::q:
      return Axis::q;
    default:
      return std::nullopt;
  }
}

/// The last place of a slot of `slots` in this order, or -1.
int last_place(const LoopOrders::Order& order, Slots slots) {
  for (int i = kSlots; i-- > 0;) {
    if (has(slots, order[static_cast<std::size_t>(i)])) return i;
  }
  return -1;
}

/// The first place of a slot of `slots` in this order, or kSlots.
int first_place(const LoopOrders::Order& order, Slots slots) {
  for (int i = 0; i < kSlots; ++i) {
    if (has(slots, order[static_cast<std::size_t>(i)])) return i;
  }
  return kSlots;
}

}  // namespace

/// Entries of the batch of one whole call.
std::int64_t ConvSpace::entries(const Point& point) const {
  const int sum = chosen(sums_, point, kSum);
  const Taps taps = chosen(taps_, point, kTaps);
  return parts(sum == 0 ? conv_.c : sum, chosen(depths_, point, kDepth)) *
         (taps == Taps::rs_looped ? 1 : conv_.s) * (taps == Taps::batch ? conv_.r : 1);
}

/// Entries lie at one stride in x and in the weights: one tap of whole blocks.
bool ConvSpace::has_regular_batch(const Point& point) const {
  const bool one_tap = chosen(taps_, point, kTaps) == Taps::rs_looped || conv_.r * conv_.s == 1;
  return one_tap && (chosen(depths_, point, kDepth) == c_block_ || c_block_ == conv_.c);
}

bool ConvSpace::is_summed_at_once(const Point& point) const {
  return chosen(sums_, point, kSum) == 0 && chosen(taps_, point, kTaps) == Taps::batch;
}

/// The loops that have several rounds.
Slots ConvSpace::many(const Point& point) const {
  const int k_outer = chosen(k_outers_, point, kKOuter);
  const int p_outer = chosen(p_outers_, point, kPOuter);
  const Pixels& pixels = chosen(pixels_, point, kPixels);
  const std::int64_t lines = lines_around(p_outer);
  Slots slots = 0;
  const auto add = [&slots](bool is_many, Slot slot) {
    if (is_many) slots = static_cast<Slots>(slots | bit(slot));
  };
  add(conv_.n > 1, Slot::n);
  add(k_outer != 0, Slot::k_outer);
  add(columns_around(k_outer) > chosen(cols_, point, kCols), Slot::k);
  add(p_outer != 0, Slot::p_outer);
  add(pixels.flat ? lines * conv_.q > pixels.q : lines > pixels.p, Slot::p);
  add(!pixels.flat && conv_.q > pixels.q, Slot::q);
  add(!is_summed_at_once(point), Slot::c);
  return slots;
}

std::array<std::int64_t, kSlots> ConvSpace::rounds(const Point& point) const {
  const int k_outer = chosen(k_outers_, point, kKOuter);
  const int p_outer = chosen(p_outers_, point, kPOuter);
  const Pixels& pixels = chosen(pixels_, point, kPixels);
  const std::int64_t lines = lines_around(p_outer);
  const std::int64_t p = pixels.flat ? parts(lines * conv_.q, pixels.q) : parts(lines, pixels.p);
  return {conv_.n,
          k_outer == 0 ? 1 : parts(conv_.k, k_outer),
          parts(columns_around(k_outer), chosen(cols_, point, kCols)),
          p_outer == 0 ? 1 : parts(conv_.p, p_outer),
          p,
          pixels.flat ? 1 : parts(conv_.q, pixels.q),
          1};
}

std::optional<Refusal> ConvSpace::why_not(const Point& point) const {
  switch (point.size() - 1) {
    case kSum:
      return why_not_sum(point);
    case kBatch:
      return why_not_batch(point);
    case kAhead:
      return why_not_ahead(point);
    case kStream:
      return why_not_stream(point);
    case kKOuter:
      return why_not_k_outer(point);
    case kPOuter:
      return why_not_p_outer(point);
    case kOrder:
      return why_not_order(point);
    case kShare:
      return why_not_share(point);
    case kWays:
      return why_not_ways(point);
    case kRotate:
      return why_not_rotate(point);
    case kPack:
      return why_not_pack(point);
    case kWeights:
      return why_not_weights(point);
    case kRim:
      return why_not_rim(point);
    case kTile:
      return why_not_tile(point);
    case kNext:
      return why_not_next(point);
    default:
      return std::nullopt;
  }
}

std::optional<Refusal> ConvSpace::why_not_sum(const Point& point) const {
  const int sum = chosen(sums_, point, kSum);
  const int depth = chosen(depths_, point, kDepth);
  if (sum == 0 || sum % depth == 0) return std::nullopt;
  return Refusal{"a call sums no whole number of batch entries", sum, depth, 'c'};
}

std::optional<Refusal> ConvSpace::why_not_tile(const Point& point) const {
  const std::size_t row = point[kPixels] * cols_.size() + point[kCols];
  if (tile_fits_[row * tiles_.size() + point[kTile]] != 0) return std::nullopt;
  return Refusal{"the register tile has no kernel, is larger than the call or is the usual one",
                 chosen(tiles_, point, kTile).rows, 0, 'k'};
}

std::optional<Refusal> ConvSpace::why_not_k_outer(const Point& point) const {
  const int outer = chosen(k_outers_, point, kKOuter);
  const int cols = chosen(cols_, point, kCols);
  if (outer == 0 || (outer > cols && outer % cols == 0)) return std::nullopt;
  return Refusal{"a block of k holds no whole number of calls, or just one", outer, cols, 'k'};
}

std::optional<Refusal> ConvSpace::why_not_p_outer(const Point& point) const {
  const int outer = chosen(p_outers_, point, kPOuter);
  const Pixels& pixels = chosen(pixels_, point, kPixels);
  if (!pixels.flat) {
    if (outer == 0 || (outer > pixels.p && outer % pixels.p == 0)) return std::nullopt;
    return Refusal{"a piece of p holds no whole number of calls, or just one", outer, pixels.p,
                   'p'};
  }
  const std::int64_t around = lines_around(outer) * conv_.q;
  if (pixels.q > around) {
    return Refusal{"a piece of p is smaller than a call", around, pixels.q, 'p'};
  }
  const std::int64_t calls = parts(around, pixels.q);
  if (parts(around, calls) == pixels.q) return std::nullopt;
  return Refusal{"the pixels of a piece are not dealt evenly to its calls", around, pixels.q, 'p'};
}

std::optional<Refusal> ConvSpace::why_not_order(const Point& point) const {
  if (LoopOrders::all().is_canonical(point[kOrder], many(point))) return std::nullopt;
  return Refusal{"the same nest has another order: a loop of one round has no place", point[kOrder],
                 0, '?'};
}

std::optional<Refusal> ConvSpace::why_not_share(const Point& point) const {
  const Slots shared = chosen(shares_, point, kShare);
  if (shared == 0) return std::nullopt;
  const Slots several = many(point);
  if ((several & kOutputs) == 0) {
    if (shared == bit(Slot::p)) return std::nullopt;  // one call is all there is
    return Refusal{"there is one call only: nothing to share", 1, conditions_.threads, 'p'};
  }
  if ((shared & ~several) != 0) return Refusal{"a shared loop has one round", 1, 2, 'n'};
  if (LoopOrders::all().are_together(point[kOrder], several, shared)) return std::nullopt;
  return Refusal{"the shared loops do not follow each other", shared, 0, 'n'};
}

std::optional<Refusal> ConvSpace::why_not_ways(const Point& point) const {
  const Ways& ways = chosen(ways_, point, kWays);
  if (ways.n == 0) return std::nullopt;
  const Slots shared = chosen(shares_, point, kShare);
  const auto all = rounds(point);
  int axes = 0;
  for (const auto& [slots, wanted] :
       {std::pair{std::array{Slot::n, Slot::n, Slot::n}, ways.n},
        std::pair{std::array{Slot::k_outer, Slot::k, Slot::k}, ways.k},
        std::pair{std::array{Slot::p_outer, Slot::p, Slot::q}, ways.p}}) {
    std::int64_t most = 1;
    for (const Slot slot : slots) {
      if (has(shared, slot)) most = all[static_cast<std::size_t>(slot)];
    }
    axes += most > 1 ? 1 : 0;
    if (wanted > most) {
      return Refusal{"more threads along a loop than it has rounds", wanted, most, 'n'};
    }
  }
  if (axes > 1) return std::nullopt;
  return Refusal{"one shared loop is dealt out flat", axes, 2, 'n'};
}

/// A loop over k runs inside of the one that has the copy.
bool ConvSpace::is_read_again(const Point& point) const {
  const LoopOrders::Order& order = LoopOrders::all()[point[kOrder]];
  const auto columns = static_cast<Slots>(many(point) & kColumnSlots);
  return last_place(order, bit(*chosen(packs_, point, kPack))) < last_place(order, columns);
}

std::optional<Refusal> ConvSpace::why_not_pack(const Point& point) const {
  const std::optional<Slot> slot = chosen(packs_, point, kPack);
  const bool is_needed = chosen(pixels_, point, kPixels).flat && !is_flat_;
  if (!slot) {
    if (!is_needed) return std::nullopt;
    return Refusal{"flattened pixels that lie apart in x need a copy of it", 0, 0, 'p'};
  }
  const Slots several = many(point);
  if (!has(several, *slot)) return Refusal{"a copy stands in a loop of one round", 1, 2, 'p'};
  if ((chosen(shares_, point, kShare) & ~several) != 0) {
    return Refusal{"one call is shared: there is nothing for threads to copy alone", 1, 2, 'p'};
  }
  const LoopOrders::Order& order = LoopOrders::all()[point[kOrder]];
  const Slots outside =
      static_cast<Slots>((chosen(shares_, point, kShare) | bit(Slot::n)) & several);
  const int place = last_place(order, bit(*slot));
  if (place < last_place(order, outside)) {
    return Refusal{"a copy stands in the loops over images and in those that threads share", 0, 0,
                   'p'};
  }
  Slots inside = chosen(taps_, point, kTaps) == Taps::batch ? Slots{0} : bit(Slot::c);
  if (chosen(pixels_, point, kPixels).flat) inside = static_cast<Slots>(inside | bit(Slot::p));
  if (first_place(order, static_cast<Slots>(inside & several)) <= place) {
    return Refusal{"a copy holds all taps and whole lines of flattened pixels", 0, 0, 'p'};
  }
  if (is_needed || has_rim() || is_read_again(point)) return std::nullopt;
  return Refusal{"a copy that is read once", 1, 2, 'p'};
}

/// A panel is transposed where all that reads it is inside of it: pixels, taps and phases.
std::optional<Refusal> ConvSpace::why_not_weights(const Point& point) const {
  if (chosen(weights_, point, kWeights) == 0) return std::nullopt;
  if (chosen(packs_, point, kPack)) return Refusal{"a step copies one operand", 2, 1, 'p'};
  const Slots several = many(point);
  if (!has(several, Slot::k)) {
    return Refusal{"a panel of weights stands in a loop of one round", 1, 2, 'k'};
  }
  const LoopOrders::Order& order = LoopOrders::all()[point[kOrder]];
  const int place = last_place(order, bit(Slot::k));
  const Slots shared = static_cast<Slots>(chosen(shares_, point, kShare) & several);
  if (place < last_place(order, shared)) {
    return Refusal{"a panel of weights is transposed inside of the loops that threads share", 0, 0,
                   'k'};
  }
  constexpr Slots kPixelSlots = bit(Slot::p_outer) | bit(Slot::p) | bit(Slot::q);
  const Slots pixels = static_cast<Slots>(kPixelSlots & several);
  const Slots rows = static_cast<Slots>(pixels | (bit(Slot::n) & several));
  if (last_place(order, rows) < place) {
    return Refusal{"a panel of weights that is read once", 1, 2, 'k'};
  }
  Slots inside = chosen(taps_, point, kTaps) == Taps::batch ? Slots{0} : bit(Slot::c);
  if (has_phases_) inside = static_cast<Slots>(inside | pixels);
  if (first_place(order, static_cast<Slots>(inside & several)) <= place) {
    return Refusal{"a panel of weights holds all taps and phases", 0, 0, 'k'};
  }
  return std::nullopt;
}

std::optional<Refusal> ConvSpace::why_not_rim(const Point& point) const {
  const bool packs = chosen(packs_, point, kPack).has_value();
  const Pixels& pixels = chosen(pixels_, point, kPixels);
  if (chosen(rims_, point, kRim) == Rim::copy) {
    if (packs) return std::nullopt;
    return Refusal{"rim=copy needs pack(x)", 0, 0, 'p'};
  }
  if (has_rim() && (pixels.flat || (rim_down_ && pixels.p > 1))) {
    return Refusal{"a call of several lines can't leave out lines of padding", pixels.p, 1, 'p'};
  }
  if (has_rim() && chosen(batches_, point, kBatch) == BatchForm::stride) {
    return Refusal{"windows leave gaps in a batch=stride", 0, 0, 'p'};
  }
  if (has_rim() && packs && !is_read_again(point))
    return Refusal{"a copy that is read once", 1, 2, 'p'};
  return std::nullopt;
}

std::optional<Refusal> ConvSpace::why_not_batch(const Point& point) const {
  const BatchForm form = chosen(batches_, point, kBatch);
  if (form == BatchForm::offset) return std::nullopt;
  if (entries(point) == 1) {
    return Refusal{"a batch of one entry has no form", 1, 2, 'c'};
  }
  if (form == BatchForm::address) return std::nullopt;
  if (has_regular_batch(point)) return std::nullopt;
  return Refusal{"batch=stride needs entries at one stride: one tap of whole blocks", 0, 0, 'c'};
}

std::optional<Refusal> ConvSpace::why_not_rotate(const Point& point) const {
  if (chosen(rotates_, point, kRotate) == 0) return std::nullopt;
  const Slots shared = chosen(shares_, point, kShare);
  if ((many(point) & kColumnSlots) != 0 && (shared & kColumnSlots) == 0) return std::nullopt;
  return Refusal{"rotate=k needs a loop over k that every thread runs", 0, 0, 'k'};
}

std::optional<Refusal> ConvSpace::why_not_stream(const Point& point) const {
  if (chosen(streams_, point, kStream) == 0) return std::nullopt;
  if (!is_summed_at_once(point)) {
    return Refusal{"store=stream needs the whole sum in one call", 0, 0, 'c'};
  }
  const int vector = lanes(conditions_.isa);
  const int cols = chosen(cols_, point, kCols);
  const bool whole = cols % vector == 0 && conv_.k % cols == 0 && k_block_ % vector == 0;
  if (whole) return std::nullopt;
  return Refusal{"store=stream needs columns in whole vectors", cols, vector, 'k'};
}

std::optional<Refusal> ConvSpace::why_not_ahead(const Point& point) const {
  const int ahead = chosen(aheads_, point, kAhead);
  if (ahead == 0 || ahead < entries(point)) return std::nullopt;
  return Refusal{"prefetching beyond the end of the batch", ahead, entries(point), 'c'};
}

/// The axis of the innermost loop over x that each thread walks itself, none if there is none. A
/// loop that is dealt out counts when its rounds are more than the threads.
Axis ConvSpace::next_axis(const Point& point) const {
  const Slots several = many(point);
  const Slots shared = chosen(shares_, point, kShare);
  const auto all = rounds(point);
  const LoopOrders::Order& order = LoopOrders::all()[point[kOrder]];
  for (int i = kSlots; i-- > 0;) {
    const Slot slot = order[static_cast<std::size_t>(i)];
    const std::optional<Axis> axis = axis_over_x(slot);
    if (!axis || !has(several, slot)) continue;
    if (!has(shared, slot) || all[static_cast<std::size_t>(slot)] > conditions_.threads) {
      return *axis;
    }
  }
  return Axis::none;
}

std::optional<Refusal> ConvSpace::why_not_next(const Point& point) const {
  if (chosen(nexts_, point, kNext) == 0 || next_axis(point) != Axis::none) return std::nullopt;
  return Refusal{"no loop over x has a next round to prefetch", 0, 0, 'p'};
}

}  // namespace loopbrick
