#include "tuner/gemm_space.h"

#include <algorithm>
#include <cassert>

#include "kernels/brgemm_spec.h"
#include "tuner/register_tiles.h"
#include "tuner/steps.h"

namespace loopbrick {

namespace {

constexpr int kMostCols = 128;
constexpr int kMostRows = 256;
constexpr int kMostDepth = 1024;
constexpr int kMostParts = 2048;

/// Orders of the loops over m, n and (outside or inside of both) a part of k.
enum Order { kMThenN, kNThenM, kKThenMThenN, kKThenNThenM, kOrders };

constexpr const char* kOrderTexts[kOrders] = {"m n", "n m", "k m n", "k n m"};

std::int64_t parts(std::int64_t total, std::int64_t step) { return (total + step - 1) / step; }

}  // namespace

GemmSpace::GemmSpace(const Problem& problem, const Conditions& conditions)
    : gemm_(std::get<Gemm>(problem.shape)), conditions_(conditions) {
  const int vector = lanes(conditions.isa);
  if (gemm_.n <= kMostCols) cols_.push_back(static_cast<int>(gemm_.n));
  for (int cols = 8 * vector; cols >= vector; cols -= vector) {
    if (cols < gemm_.n && cols <= kMostCols) cols_.push_back(cols);
  }
  if (gemm_.k <= kMostDepth)
    depths_.push_back(static_cast<int>(std::max<std::int64_t>(1, gemm_.k)));
  for (int depth = kMostDepth; depth >= 64; depth /= 2) {
    if (depth < gemm_.k) depths_.push_back(depth);
  }
  sums_ = {0};
  for (std::int64_t sum = 128; sum < gemm_.k && sum <= kMostParts; sum *= 2) {
    sums_.push_back(static_cast<int>(sum));
  }
  forms_ = {BatchForm::offset, BatchForm::address, BatchForm::stride};
  aheads_ = {0, 1, 2, 4};
  rows_ = even_steps(gemm_.m, 6, kMostRows);
  outers_ = {0};
  for (int outer = 2 * rows_.back(); outer < gemm_.m && outer <= kMostParts; outer *= 2) {
    outers_.push_back(outer);
  }
  for (int order = 0; order < kOrders; ++order) orders_.push_back(order);
  shares_ = {Share::none};
  if (conditions.threads > 1) shares_ = {Share::m, Share::n, Share::both};
  ways_ = {0};
  for (const int ways : divisors(conditions.threads, 1, conditions.threads)) {
    if (conditions.threads > 1) ways_.push_back(ways);
  }
  tiles_ = register_tiles(conditions.isa);
}

std::vector<Choice> GemmSpace::choices() const {
  std::vector<Choice> list(kPlaces);
  const auto fill = [&list](Place place, const char* name, const auto& values, auto text) {
    list[place].name = name;
    for (const auto& value : values) list[place].values.push_back(text(value));
  };
  const auto number = [](int value) { return std::to_string(value); };
  const auto part = [](int value) { return value == 0 ? "none" : std::to_string(value); };
  fill(kCols, "columns of a call", cols_, number);
  fill(kDepth, "depth of a batch entry", depths_, number);
  fill(kSum, "part of k", sums_, part);
  fill(kForm, "batch form", forms_, [](BatchForm form) { return std::string(to_string(form)); });
  fill(kAhead, "prefetch ahead", aheads_, number);
  fill(kRows, "rows of a call", rows_, number);
  fill(kOuter, "block of m", outers_, part);
  fill(kOrder, "order", orders_, [](int order) { return std::string(kOrderTexts[order]); });
  fill(kShare, "shared by threads", shares_, [](Share share) {
    constexpr const char* kTexts[] = {"none", "m", "n", "m+n"};
    return std::string(kTexts[static_cast<std::size_t>(share)]);
  });
  fill(kWays, "threads along m", ways_, part);
  fill(kTile, "register tile", tiles_, [](const RegisterTile& tile) {
    if (tile.rows == 0) return std::string("usual");
    return std::to_string(tile.rows) + "x" + std::to_string(tile.cols);
  });
  return list;
}

/// Entries of the batch of one whole call.
std::int64_t GemmSpace::entries(const Point& point) const {
  const int sum = chosen(sums_, point, kSum);
  return parts(sum == 0 ? gemm_.k : sum, chosen(depths_, point, kDepth)) * gemm_.batch;
}

std::int64_t GemmSpace::rows_around(const Point& point) const {
  const int outer = chosen(outers_, point, kOuter);
  return outer == 0 ? gemm_.m : outer;
}

std::optional<Refusal> GemmSpace::why_not(const Point& point) const {
  switch (point.size() - 1) {
    case kSum:
      return why_not_sum(point);
    case kForm:
      return why_not_form(point);
    case kAhead:
      return why_not_ahead(point);
    case kOuter:
      return why_not_outer(point);
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

std::optional<Refusal> GemmSpace::why_not_sum(const Point& point) const {
  const int sum = chosen(sums_, point, kSum);
  if (sum == 0 || sum % chosen(depths_, point, kDepth) == 0) return std::nullopt;
  return Refusal{"a call sums no whole number of batch entries", sum, 0, 'k'};
}

std::optional<Refusal> GemmSpace::why_not_form(const Point& point) const {
  const BatchForm form = chosen(forms_, point, kForm);
  if (form == BatchForm::offset) return std::nullopt;
  if (entries(point) <= 1) return Refusal{"a batch of one entry has no form", 1, 2, 'k'};
  const std::int64_t of_k = gemm_.batch == 0 ? 0 : entries(point) / gemm_.batch;
  if (form == BatchForm::address || of_k <= 1 || gemm_.batch == 1) return std::nullopt;
  return Refusal{"batch=stride walks one axis", 2, 1, 'k'};
}

std::optional<Refusal> GemmSpace::why_not_ahead(const Point& point) const {
  const int ahead = chosen(aheads_, point, kAhead);
  if (ahead == 0 || ahead < entries(point)) return std::nullopt;
  return Refusal{"prefetching beyond the end of the batch", ahead, entries(point), 'k'};
}

std::optional<Refusal> GemmSpace::why_not_outer(const Point& point) const {
  const int outer = chosen(outers_, point, kOuter);
  const int rows = chosen(rows_, point, kRows);
  if (outer == 0 || (outer > rows && outer % rows == 0)) return std::nullopt;
  return Refusal{"a block of m holds no whole number of calls, or just one", outer, rows, 'm'};
}

std::optional<Refusal> GemmSpace::why_not_order(const Point& point) const {
  const int order = chosen(orders_, point, kOrder);
  const bool k_outside = order == kKThenMThenN || order == kKThenNThenM;
  if (k_outside && chosen(sums_, point, kSum) == 0) {
    return Refusal{"no part of k is looped", 1, 2, 'k'};
  }
  const bool n_outside = order == kNThenM || order == kKThenNThenM;
  if (!n_outside && chosen(outers_, point, kOuter) != 0) {
    return Refusal{"a block of m with no loop over n inside", 0, 0, 'm'};
  }
  const bool several_n = gemm_.n > chosen(cols_, point, kCols);
  const bool several_m = rows_around(point) > chosen(rows_, point, kRows);
  if (n_outside && !(several_n && several_m)) {
    return Refusal{"the same nest has another order: a loop of one round has no place", 1, 2, 'n'};
  }
  return std::nullopt;
}

std::optional<Refusal> GemmSpace::why_not_share(const Point& point) const {
  const Share share = chosen(shares_, point, kShare);
  if (share == Share::none) return std::nullopt;
  const bool several_m = gemm_.m > chosen(rows_, point, kRows);
  const bool several_n = gemm_.n > chosen(cols_, point, kCols);
  if (!several_m && !several_n) {
    if (share == Share::m) return std::nullopt;  // one call is all there is
    return Refusal{"there is one call only: nothing to share", 1, conditions_.threads, 'm'};
  }
  if ((share == Share::n || several_m) && (share == Share::m || several_n)) return std::nullopt;
  return Refusal{"a shared loop has one round", 1, 2, 'n'};
}

std::optional<Refusal> GemmSpace::why_not_ways(const Point& point) const {
  const int ways = chosen(ways_, point, kWays);
  if (ways == 0) return std::nullopt;
  if (chosen(shares_, point, kShare) != Share::both) {
    return Refusal{"one shared loop is dealt out flat", 1, 2, 'm'};
  }
  const int outer = chosen(outers_, point, kOuter);
  const std::int64_t rounds = parts(gemm_.m, outer == 0 ? chosen(rows_, point, kRows) : outer);
  const bool fits =
      ways <= rounds && conditions_.threads / ways <= parts(gemm_.n, chosen(cols_, point, kCols));
  if (fits) return std::nullopt;
  return Refusal{"more threads along a loop than it has rounds", ways, rounds, 'm'};
}

std::optional<Refusal> GemmSpace::why_not_tile(const Point& point) const {
  const RegisterTile& tile = chosen(tiles_, point, kTile);
  const bool fits =
      is_tile_of(conditions_.isa, tile, chosen(rows_, point, kRows), chosen(cols_, point, kCols));
  if (fits) return std::nullopt;
  return Refusal{"the register tile has no kernel, is larger than the call or is the usual one",
                 tile.rows, 0, 'n'};
}

Loop GemmSpace::loop_m(const Point& point, int step) const {
  const Share share = chosen(shares_, point, kShare);
  const int outer = chosen(outers_, point, kOuter);
  const bool is_outermost = outer == 0 || step == outer;
  Loop loop{.axis = Axis::m, .step = step};
  loop.parallel = is_outermost && (share == Share::m || share == Share::both);
  if (loop.parallel) loop.ways = static_cast<std::int16_t>(chosen(ways_, point, kWays));
  return loop;
}

Loop GemmSpace::loop_n(const Point& point) const {
  const Share share = chosen(shares_, point, kShare);
  const int ways = chosen(ways_, point, kWays);
  Loop loop{.axis = Axis::n, .step = chosen(cols_, point, kCols)};
  loop.parallel = share == Share::n || share == Share::both;
  if (loop.parallel && ways != 0) loop.ways = static_cast<std::int16_t>(conditions_.threads / ways);
  return loop;
}

Schedule GemmSpace::schedule(const Point& point) const {
  Schedule schedule;
  schedule.steps.push_back({});
  Step& step = schedule.steps.back();
  const auto add = [&step](const Loop& loop) {
    step.elements.push_back({.loop = loop, .pack = {}});
  };
  const int order = chosen(orders_, point, kOrder);
  const int sum = chosen(sums_, point, kSum);
  const int outer = chosen(outers_, point, kOuter);
  const Loop part{.axis = Axis::k, .step = sum};
  const bool k_outside = order == kKThenMThenN || order == kKThenNThenM;
  const bool n_outside = order == kNThenM || order == kKThenNThenM;
  if (k_outside) add(part);
  if (outer != 0) add(loop_m(point, outer));
  if (n_outside) add(loop_n(point));
  add(loop_m(point, chosen(rows_, point, kRows)));
  if (!n_outside) add(loop_n(point));
  if (sum != 0 && !k_outside) add(part);
  Sum call{.axis = Axis::k, .depth = chosen(depths_, point, kDepth), .batch = {}};
  if (call.depth < (sum == 0 ? gemm_.k : sum)) call.batch.push_back(Axis::k);
  if (gemm_.batch != 1) call.batch.push_back(Axis::b);
  step.sums.push_back(call);
  const RegisterTile& tile = chosen(tiles_, point, kTile);
  step.marks.tile_rows = tile.rows;
  step.marks.tile_cols = tile.cols;
  step.marks.batch = chosen(forms_, point, kForm);
  step.marks.ahead = chosen(aheads_, point, kAhead);
  return schedule;
}

}  // namespace loopbrick
