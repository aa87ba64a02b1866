#include "tuner/conv_weights_space.h"

#include <algorithm>
#include <string>

#include "loops/ranges.h"
#include "tuner/register_tiles.h"
#include "tuner/steps.h"

namespace loopbrick {

namespace {

constexpr int kMostCols = 128;
constexpr int kMostRows = 128;
constexpr int kMostDepth = 512;

std::int64_t parts(std::int64_t total, std::int64_t step) { return (total + step - 1) / step; }

/// Sides of a call that its blocks of channels allow, or all channels.
std::vector<int> sides(std::int64_t extent, std::int64_t block, int least, int most) {
  const std::int64_t whole = block == 0 ? extent : block;
  std::vector<int> list =
      divisors(whole, static_cast<int>(std::min<std::int64_t>(whole, least)), most);
  if (list.empty()) list.push_back(static_cast<int>(std::min<std::int64_t>(whole, most)));
  return list;
}

bool is_walked(const Contraction& contraction, int side) {
  const Border& clip = contraction.clips[side];
  const std::int64_t outs = contraction.extent(clip.out);
  const std::int64_t taps = contraction.extent(clip.tap);
  return taps > 1 || pairs_on_image(clip, outs, taps) < outs;
}

}  // namespace

ConvWeightsSpace::ConvWeightsSpace(const Contraction& contraction, const Conditions& conditions)
    : n_(contraction.extent(Axis::n)),
      p_(contraction.extent(Axis::p)),
      q_(contraction.extent(Axis::q)),
      k_(contraction.extent(Axis::k)),
      c_(contraction.extent(Axis::c)),
      r_(contraction.extent(Axis::r)),
      s_(contraction.extent(Axis::s)),
      walks_r_(is_walked(contraction, 0)),
      walks_s_(is_walked(contraction, 1)),
      conditions_(conditions) {
  add_sizes(contraction);
  add_threads();
}

void ConvWeightsSpace::add_sizes(const Contraction& contraction) {
  cols_ = sides(k_, contraction.columns_block, lanes(conditions_.isa), kMostCols);
  rows_ = sides(c_, contraction.row_block, 6, kMostRows);
  depths_ = even_steps(q_, 7, kMostDepth);
  lines_ = {0};
  for (const int lines : even_steps(p_, 1, INT32_MAX)) {
    if (lines < p_) lines_.push_back(lines);
  }
  images_ = {0};
  if (n_ > 1) images_.push_back(1);
  forms_ = {BatchForm::offset, BatchForm::address};
  aheads_ = {0, 1, 2};
  Order order{Slot::n, Slot::p, Slot::k, Slot::c, Slot::taps};
  do orders_.push_back(order);
  while (std::next_permutation(order.begin(), order.end()));
  tiles_ = register_tiles(conditions_.isa);
}

void ConvWeightsSpace::add_threads() {
  const int threads = conditions_.threads;
  shares_ = {0};
  ways_ = {0};
  if (threads == 1) return;
  const auto k = bit(Slot::k);
  const auto c = bit(Slot::c);
  const auto taps = bit(Slot::taps);
  shares_ = {bit(Slot::n),
             bit(Slot::p),
             k,
             c,
             taps,
             static_cast<Slots>(k | c),
             static_cast<Slots>(k | c | taps),
             static_cast<Slots>(bit(Slot::n) | k),
             static_cast<Slots>(bit(Slot::n) | c),
             static_cast<Slots>(bit(Slot::p) | k),
             static_cast<Slots>(bit(Slot::p) | c)};
  for (const int ways : divisors(threads, 2, threads / 2)) ways_.push_back(ways);
}

std::vector<Choice> ConvWeightsSpace::choices() const {
  std::vector<Choice> list(kPlaces);
  const auto fill = [&list](Place place, const char* name, const auto& values, auto text) {
    list[place].name = name;
    for (const auto& value : values) list[place].values.push_back(text(value));
  };
  const auto number = [](int value) { return std::to_string(value); };
  const auto name = [](Slot slot) {
    constexpr const char* kNames[kSlots] = {"n", "p", "k", "c", "rs"};
    return std::string(kNames[static_cast<std::size_t>(slot)]);
  };
  fill(kCols, "k of a call", cols_, number);
  fill(kRows, "c of a call", rows_, number);
  fill(kDepth, "pixels of a batch entry", depths_, number);
  fill(kLines, "lines of a call", lines_,
       [](int lines) { return lines == 0 ? std::string("all") : std::to_string(lines); });
  fill(kImages, "images of a call", images_,
       [](std::uint8_t all) { return std::string(all == 0 ? "1" : "all"); });
  fill(kForm, "batch form", forms_, [](BatchForm form) { return std::string(to_string(form)); });
  fill(kAhead, "prefetch ahead", aheads_, number);
  fill(kOrder, "order", orders_, [&](const Order& order) {
    std::string text;
    for (const Slot slot : order) text += (text.empty() ? "" : " ") + name(slot);
    return text;
  });
  fill(kShare, "shared by threads", shares_, [&](Slots shared) {
    std::string text;
    for (const Slot slot : {Slot::n, Slot::p, Slot::k, Slot::c, Slot::taps}) {
      if ((shared & bit(slot)) != 0) text += (text.empty() ? "" : "+") + name(slot);
    }
    return text.empty() ? std::string("none") : text;
  });
  fill(kWays, "copies of the gradient", ways_, [](int ways) {
    return ways == 0 ? std::string("one a thread, or none") : std::to_string(ways);
  });
  fill(kTile, "register tile", tiles_, [](const RegisterTile& tile) {
    if (tile.rows == 0) return std::string("usual");
    return std::to_string(tile.rows) + "x" + std::to_string(tile.cols);
  });
  for (const Place place : {kForm, kAhead}) list[place].is_refinement = true;
  return list;
}

std::int64_t ConvWeightsSpace::rounds(const Point& point, Slot slot) const {
  switch (slot) {
    case Slot::n:
      return chosen(images_, point, kImages) != 0 ? 1 : n_;
    case Slot::p: {
      const int lines = chosen(lines_, point, kLines);
      return lines == 0 ? 1 : parts(p_, lines);
    }
    case Slot::k:
      return parts(k_, chosen(cols_, point, kCols));
    case Slot::c:
      return parts(c_, chosen(rows_, point, kRows));
    case Slot::taps:
      return r_ * s_;
  }
  return 1;
}

/// The loops that have several rounds.
ConvWeightsSpace::Slots ConvWeightsSpace::many(const Point& point) const {
  Slots slots = 0;
  for (const Slot slot : {Slot::n, Slot::p, Slot::k, Slot::c, Slot::taps}) {
    const bool is_walked = slot == Slot::taps ? walks_r_ || walks_s_ : rounds(point, slot) > 1;
    if (is_walked) slots = static_cast<Slots>(slots | bit(slot));
  }
  return slots;
}

std::int64_t ConvWeightsSpace::entries(const Point& point) const {
  const int lines = chosen(lines_, point, kLines);
  return parts(q_, chosen(depths_, point, kDepth)) * (lines == 0 ? p_ : lines) *
         (chosen(images_, point, kImages) != 0 ? n_ : 1);
}

std::optional<Refusal> ConvWeightsSpace::why_not(const Point& point) const {
  switch (point.size() - 1) {
    case kImages:
      return why_not_images(point);
    case kForm:
      return why_not_form(point);
    case kAhead:
      return why_not_ahead(point);
    case kOrder:
      return why_not_order(point);
    case kShare:
      return why_not_share(point);
    case kWays:
      return why_not_ways(point);
    case kTile:
      return why_not_tile(point);
    default:
      return std::nullopt;
  }
}

std::optional<Refusal> ConvWeightsSpace::why_not_images(const Point& point) const {
  if (chosen(images_, point, kImages) == 0 || chosen(lines_, point, kLines) == 0)
    return std::nullopt;
  return Refusal{"a call that walks images walks all their lines", 0, 0, 'n'};
}

std::optional<Refusal> ConvWeightsSpace::why_not_form(const Point& point) const {
  if (chosen(forms_, point, kForm) == BatchForm::offset || entries(point) > 1) return std::nullopt;
  return Refusal{"a batch of one entry has no form", 1, 2, 'p'};
}

std::optional<Refusal> ConvWeightsSpace::why_not_ahead(const Point& point) const {
  const int ahead = chosen(aheads_, point, kAhead);
  if (ahead == 0 || ahead < entries(point)) return std::nullopt;
  return Refusal{"prefetching beyond the end of the batch", ahead, entries(point), 'p'};
}

std::optional<Refusal> ConvWeightsSpace::why_not_order(const Point& point) const {
  const Slots several = many(point);
  const auto kept = [several](const Order& order) {
    std::uint32_t code = 0;
    for (const Slot slot : order) {
      if ((several & bit(slot)) != 0) code = code * 8 + static_cast<std::uint32_t>(slot) + 1;
    }
    return code;
  };
  const std::uint32_t own = kept(orders_[point[kOrder]]);
  for (std::size_t i = 0; i < point[kOrder]; ++i) {
    if (kept(orders_[i]) == own) {
      return Refusal{"the same nest has another order: a loop of one round has no place",
                     point[kOrder], 0, '?'};
    }
  }
  return std::nullopt;
}

std::optional<Refusal> ConvWeightsSpace::why_not_share(const Point& point) const {
  const Slots shared = chosen(shares_, point, kShare);
  const Slots several = many(point);
  if (several == 0 && shared == bit(Slot::k)) return std::nullopt;  // one call is all there is
  const bool shares_one_tap = (shared & bit(Slot::taps)) != 0 && r_ * s_ == 1;
  if ((shared & ~several) != 0 || shares_one_tap)
    return Refusal{"a shared loop has one round", 1, 2, 'k'};
  const bool shares_lines = (shared & bit(Slot::p)) != 0;
  int place = 0;
  int first = -1;
  int last = -1;
  int taps = kSlots;
  int count = 0;
  for (const Slot slot : orders_[point[kOrder]]) {
    if ((several & bit(slot)) == 0) continue;
    if (slot == Slot::taps) taps = place;
    if ((shared & bit(slot)) != 0) {
      if (first < 0) first = place;
      last = place;
      ++count;
    }
    ++place;
  }
  if (count > 0 && last - first + 1 != count)
    return Refusal{"the shared loops do not follow each other", count, 0, 'k'};
  if (shares_lines && taps < last)
    return Refusal{"lines with private gradients are outside of the taps", 0, 0, 'p'};
  for (const Slot slot : {Slot::n, Slot::p}) {
    const bool is_alone = shared == bit(slot);
    if (is_alone && rounds(point, slot) < conditions_.threads)
      return Refusal{"more threads along a loop than it has rounds", conditions_.threads,
                     rounds(point, slot), 'n'};
  }
  return std::nullopt;
}

std::optional<Refusal> ConvWeightsSpace::why_not_ways(const Point& point) const {
  const Slots shared = chosen(shares_, point, kShare);
  const int ways = chosen(ways_, point, kWays);
  constexpr Slots kSums = bit(Slot::n) | bit(Slot::p);
  const Slots outputs = static_cast<Slots>(shared & ~kSums);
  const bool is_mixed = (shared & kSums) != 0 && outputs != 0;
  if (is_mixed != (ways != 0))
    return Refusal{"ways are for images or lines beside channels", ways, 0, 'n'};
  if (!is_mixed) return std::nullopt;
  const Slot sum = (shared & bit(Slot::n)) != 0 ? Slot::n : Slot::p;
  const Slot output = outputs == bit(Slot::k) ? Slot::k : Slot::c;
  if (ways <= rounds(point, sum) && conditions_.threads / ways <= rounds(point, output))
    return std::nullopt;
  return Refusal{"more threads along a loop than it has rounds", ways, rounds(point, sum), 'n'};
}

std::optional<Refusal> ConvWeightsSpace::why_not_tile(const Point& point) const {
  const RegisterTile& tile = chosen(tiles_, point, kTile);
  if (is_tile_of(conditions_.isa, tile, chosen(rows_, point, kRows), chosen(cols_, point, kCols)))
    return std::nullopt;
  return Refusal{"the register tile has no kernel, is larger than the call or is the usual one",
                 tile.rows, 0, 'k'};
}

Loop ConvWeightsSpace::loop(const Point& point, Slot slot) const {
  Loop loop;
  const int ways = chosen(ways_, point, kWays);
  loop.parallel = (chosen(shares_, point, kShare) & bit(slot)) != 0;
  const bool is_sum = slot == Slot::n || slot == Slot::p;
  loop.private_sum = loop.parallel && is_sum;
  if (loop.parallel && ways != 0) {
    loop.ways = static_cast<std::int16_t>(is_sum ? ways : conditions_.threads / ways);
  }
  switch (slot) {
    case Slot::n:
      loop.axis = Axis::n;
      break;
    case Slot::p:
      loop.axis = Axis::p;
      loop.step = chosen(lines_, point, kLines);
      break;
    case Slot::k:
      loop.axis = Axis::k;
      loop.step = chosen(cols_, point, kCols);
      break;
    case Slot::c:
      loop.axis = Axis::c;
      loop.step = chosen(rows_, point, kRows);
      break;
    case Slot::taps:
      loop.axis = Axis::r;
      break;
  }
  return loop;
}

void ConvWeightsSpace::add_loops(Step& step, const Point& point, Slot slot) const {
  Loop one = loop(point, slot);
  if (slot != Slot::taps || walks_r_) step.elements.push_back({.loop = one, .pack = {}});
  if (slot != Slot::taps || !walks_s_) return;
  one.axis = Axis::s;
  step.elements.push_back({.loop = one, .pack = {}});
}

/// Loops of several rounds in the chosen order; behind them tiles of one round, which only name the
/// call.
Schedule ConvWeightsSpace::schedule(const Point& point) const {
  Schedule schedule;
  schedule.steps.push_back({});
  Step& step = schedule.steps.back();
  const Slots several = many(point);
  for (const Slot slot : orders_[point[kOrder]]) {
    if ((several & bit(slot)) != 0) add_loops(step, point, slot);
  }
  for (const Slot slot : {Slot::k, Slot::c}) {
    if ((several & bit(slot)) == 0) add_loops(step, point, slot);
  }
  const int depth = chosen(depths_, point, kDepth);
  Sum call{.axis = Axis::q, .depth = depth, .batch = {}};
  if (depth < q_) call.batch.push_back(Axis::q);
  const int lines = chosen(lines_, point, kLines);
  if ((lines == 0 ? p_ : lines) > 1) call.batch.push_back(Axis::p);
  if (chosen(images_, point, kImages) != 0) call.batch.push_back(Axis::n);
  step.sums.push_back(call);
  const RegisterTile& tile = chosen(tiles_, point, kTile);
  step.marks.tile_rows = tile.rows;
  step.marks.tile_cols = tile.cols;
  step.marks.batch = chosen(forms_, point, kForm);
  step.marks.ahead = chosen(aheads_, point, kAhead);
  return schedule;
}

}  // namespace loopbrick
