#include "tuner/gemm_space.h"

#include <algorithm>
#include <cassert>

#include "kernels/brgemm_spec.h"
#include "loops/step_facts.h"
#include "tuner/register_tiles.h"
#include "tuner/steps.h"

namespace loopbrick {

namespace {

constexpr int kMostCols = 128;
constexpr int kMostRows = 256;
constexpr int kMostDepth = 1024;
constexpr int kMostParts = 2048;

/// Orders of the loops over rows, columns and (outside or inside of both) a part of the depth.
enum Order { kRowsColumns, kColumnsRows, kDepthRowsColumns, kDepthColumnsRows, kOrders };

constexpr const char* kOrderTexts[kOrders] = {"rows columns", "columns rows", "depth rows columns",
                                              "depth columns rows"};

std::int64_t parts(std::int64_t total, std::int64_t step) { return (total + step - 1) / step; }

/// Whole vectors, or all columns; where they lie in blocks, what divides the block.
std::vector<int> call_columns(std::int64_t extent, std::int64_t block, int vector) {
  if (block != 0) {
    const std::vector<int> all =
        divisors(block, static_cast<int>(std::min<std::int64_t>(block, vector)), kMostCols);
    return all.empty() ? std::vector<int>{static_cast<int>(block)} : all;
  }
  std::vector<int> list;
  if (extent <= kMostCols) list.push_back(static_cast<int>(extent));
  for (int cols = 8 * vector; cols >= vector; cols -= vector) {
    if (cols < extent && cols <= kMostCols) list.push_back(cols);
  }
  return list;
}

/// All of the depth, even parts of it or powers of two; where it lies in blocks, what divides the
/// block.
std::vector<int> entry_depths(std::int64_t extent, std::int64_t block) {
  if (block != 0)
    return divisors(block, static_cast<int>(std::min<std::int64_t>(block, 16)), kMostDepth);
  std::vector<int> list = halved_steps(std::max<std::int64_t>(1, extent), 64, kMostDepth);
  for (int depth = kMostDepth; depth >= 64; depth /= 2) {
    const bool is_new = std::find(list.begin(), list.end(), depth) == list.end();
    if (depth < extent && is_new) list.push_back(depth);
  }
  return list;
}

}  // namespace

GemmSpace::GemmSpace(const Contraction& contraction, const Conditions& conditions)
    : row_(contraction.row),
      column_(contraction.columns),
      depth_(contraction.depth),
      rows_extent_(contraction.extent(row_)),
      columns_extent_(contraction.extent(column_)),
      depth_extent_(contraction.extent(depth_)),
      batch_(contraction.has(Axis::b) ? contraction.extent(Axis::b) : 1),
      depth_block_(contraction.depth_block),
      conditions_(conditions) {
  assert(contraction.line == Axis::none);
  const int vector = lanes(conditions.isa);
  cols_ = call_columns(columns_extent_, contraction.columns_block, vector);
  depths_ = entry_depths(depth_extent_, contraction.depth_block);
  sums_ = {0};
  for (std::int64_t sum = 128; sum < depth_extent_ && sum <= kMostParts; sum *= 2) {
    sums_.push_back(static_cast<int>(sum));
  }
  forms_ = {BatchForm::offset, BatchForm::address, BatchForm::stride};
  aheads_ = {0, 1, 2, 4};
  rows_ = contraction.row_block == 0 ? even_steps(rows_extent_, 6, kMostRows)
                                     : divisors(contraction.row_block, 6, kMostRows);
  outers_ = {0};
  for (int outer = 2 * rows_.back(); outer < rows_extent_ && outer <= kMostParts; outer *= 2) {
    if (contraction.row_block == 0 || outer % contraction.row_block == 0) outers_.push_back(outer);
  }
  for (int order = 0; order < kOrders; ++order) orders_.push_back(order);
  shares_ = {Share::none};
  if (conditions.threads > 1) shares_ = {Share::rows, Share::columns, Share::both};
  ways_ = {0};
  for (const int ways : divisors(conditions.threads, 1, conditions.threads)) {
    if (conditions.threads > 1) ways_.push_back(ways);
  }
  packs_ = {0};
  transposes_once_ = contraction.b_is_transposed && conditions.transposes_once;
  if (contraction.b_is_transposed && !transposes_once_) packs_ = {1, 0};
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
  fill(kSum, "part of the depth", sums_, part);
  fill(kForm, "batch form", forms_, [](BatchForm form) { return std::string(to_string(form)); });
  fill(kAhead, "prefetch ahead", aheads_, number);
  fill(kRows, "rows of a call", rows_, number);
  fill(kOuter, "block of rows", outers_, part);
  fill(kOrder, "order", orders_, [](int order) { return std::string(kOrderTexts[order]); });
  fill(kShare, "shared by threads", shares_, [](Share share) {
    constexpr const char* kTexts[] = {"none", "rows", "columns", "both"};
    return std::string(kTexts[static_cast<std::size_t>(share)]);
  });
  fill(kWays, "threads along the rows", ways_, part);
  fill(kPack, "transpose the weights", packs_,
       [](std::uint8_t packs) { return std::string(packs == 0 ? "first" : "panel by panel"); });
  fill(kTile, "register tile", tiles_, [](const RegisterTile& tile) {
    if (tile.rows == 0) return std::string("usual");
    return std::to_string(tile.rows) + "x" + std::to_string(tile.cols);
  });
  for (const Place place : {kForm, kAhead}) list[place].is_refinement = true;
  return list;
}

/// Entries of the batch of one whole call.
std::int64_t GemmSpace::entries(const Point& point) const {
  const int sum = chosen(sums_, point, kSum);
  return parts(sum == 0 ? depth_extent_ : sum, chosen(depths_, point, kDepth)) * batch_;
}

std::int64_t GemmSpace::rows_around(const Point& point) const {
  const int outer = chosen(outers_, point, kOuter);
  return outer == 0 ? rows_extent_ : outer;
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
    case kPack:
      return why_not_pack(point);
    case kTile:
      return why_not_tile(point);
    default:
      return std::nullopt;
  }
}

std::optional<Refusal> GemmSpace::why_not_sum(const Point& point) const {
  const int sum = chosen(sums_, point, kSum);
  if (sum == 0 || sum % chosen(depths_, point, kDepth) == 0) return std::nullopt;
  return Refusal{"a call sums no whole number of batch entries", sum, 0, letter(depth_)};
}

std::optional<Refusal> GemmSpace::why_not_form(const Point& point) const {
  const BatchForm form = chosen(forms_, point, kForm);
  if (form == BatchForm::offset) return std::nullopt;
  if (entries(point) <= 1) return Refusal{"a batch of one entry has no form", 1, 2, letter(depth_)};
  const std::int64_t of_k = batch_ == 0 ? 0 : entries(point) / batch_;
  if (form == BatchForm::address) return std::nullopt;
  const int depth = chosen(depths_, point, kDepth);
  if (depth_block_ != 0 && depth != depth_block_) {
    return Refusal{"batch=stride needs a depth of a whole channel block", depth, depth_block_,
                   letter(depth_)};
  }
  if (of_k <= 1 || batch_ == 1) return std::nullopt;
  return Refusal{"batch=stride walks one axis", 2, 1, letter(depth_)};
}

std::optional<Refusal> GemmSpace::why_not_ahead(const Point& point) const {
  const int ahead = chosen(aheads_, point, kAhead);
  if (ahead == 0 || ahead < entries(point)) return std::nullopt;
  return Refusal{"prefetching beyond the end of the batch", ahead, entries(point), letter(depth_)};
}

std::optional<Refusal> GemmSpace::why_not_outer(const Point& point) const {
  const int outer = chosen(outers_, point, kOuter);
  const int rows = chosen(rows_, point, kRows);
  if (outer == 0 || (outer > rows && outer % rows == 0)) return std::nullopt;
  return Refusal{"a block of rows holds no whole number of calls, or just one", outer, rows,
                 letter(row_)};
}

std::optional<Refusal> GemmSpace::why_not_order(const Point& point) const {
  const int order = chosen(orders_, point, kOrder);
  const bool depth_outside = order == kDepthRowsColumns || order == kDepthColumnsRows;
  if (depth_outside && chosen(sums_, point, kSum) == 0) {
    return Refusal{"no part of the depth is looped", 1, 2, letter(depth_)};
  }
  const bool columns_outside = order == kColumnsRows || order == kDepthColumnsRows;
  if (!columns_outside && chosen(outers_, point, kOuter) != 0) {
    return Refusal{"a block of rows with no loop over columns inside", 0, 0, letter(row_)};
  }
  const bool several_columns = columns_extent_ > chosen(cols_, point, kCols);
  const bool several_rows = rows_around(point) > chosen(rows_, point, kRows);
  if (columns_outside && !(several_columns && several_rows)) {
    return Refusal{"the same nest has another order: a loop of one round has no place", 1, 2,
                   letter(column_)};
  }
  return std::nullopt;
}

std::optional<Refusal> GemmSpace::why_not_share(const Point& point) const {
  const Share share = chosen(shares_, point, kShare);
  if (share == Share::none) return std::nullopt;
  const bool several_rows = rows_extent_ > chosen(rows_, point, kRows);
  const bool several_columns = columns_extent_ > chosen(cols_, point, kCols);
  if (!several_rows && !several_columns) {
    if (share == Share::rows) return std::nullopt;  // one call is all there is
    return Refusal{"there is one call only: nothing to share", 1, conditions_.threads,
                   letter(row_)};
  }
  if ((share == Share::columns || several_rows) && (share == Share::rows || several_columns))
    return std::nullopt;
  return Refusal{"a shared loop has one round", 1, 2, letter(column_)};
}

std::optional<Refusal> GemmSpace::why_not_ways(const Point& point) const {
  const int ways = chosen(ways_, point, kWays);
  if (ways == 0) return std::nullopt;
  if (chosen(shares_, point, kShare) != Share::both) {
    return Refusal{"one shared loop is dealt out flat", 1, 2, letter(row_)};
  }
  const int outer = chosen(outers_, point, kOuter);
  const std::int64_t rounds = parts(rows_extent_, outer == 0 ? chosen(rows_, point, kRows) : outer);
  const bool fits = ways <= rounds && conditions_.threads / ways <=
                                          parts(columns_extent_, chosen(cols_, point, kCols));
  if (fits) return std::nullopt;
  return Refusal{"more threads along a loop than it has rounds", ways, rounds, letter(row_)};
}

std::optional<Refusal> GemmSpace::why_not_pack(const Point& point) const {
  if (chosen(packs_, point, kPack) == 0) return std::nullopt;
  const int order = chosen(orders_, point, kOrder);
  const Share share = chosen(shares_, point, kShare);
  const bool several_columns = columns_extent_ > chosen(cols_, point, kCols);
  const bool columns_outside = order == kColumnsRows || order == kDepthColumnsRows;
  const bool is_alone = rows_around(point) <= chosen(rows_, point, kRows);
  const bool shares_rows = share == Share::rows || share == Share::both;
  if (several_columns && (columns_outside || is_alone) && !shares_rows &&
      chosen(outers_, point, kOuter) == 0) {
    return std::nullopt;
  }
  return Refusal{"a panel of weights is transposed once, for all rows: columns are outside", 0, 0,
                 letter(column_)};
}

std::optional<Refusal> GemmSpace::why_not_tile(const Point& point) const {
  const RegisterTile& tile = chosen(tiles_, point, kTile);
  const bool fits =
      is_tile_of(conditions_.isa, tile, chosen(rows_, point, kRows), chosen(cols_, point, kCols));
  if (fits) return std::nullopt;
  return Refusal{"the register tile has no kernel, is larger than the call or is the usual one",
                 tile.rows, 0, letter(column_)};
}

Loop GemmSpace::loop_rows(const Point& point, int step) const {
  const Share share = chosen(shares_, point, kShare);
  const int outer = chosen(outers_, point, kOuter);
  const bool is_outermost = outer == 0 || step == outer;
  Loop loop{.axis = row_, .step = step};
  loop.parallel = is_outermost && (share == Share::rows || share == Share::both);
  if (loop.parallel) loop.ways = static_cast<std::int16_t>(chosen(ways_, point, kWays));
  return loop;
}

Loop GemmSpace::loop_columns(const Point& point) const {
  const Share share = chosen(shares_, point, kShare);
  const int ways = chosen(ways_, point, kWays);
  Loop loop{.axis = column_, .step = chosen(cols_, point, kCols)};
  loop.parallel = share == Share::columns || share == Share::both;
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
  const Loop part{.axis = depth_, .step = sum};
  const bool depth_outside = order == kDepthRowsColumns || order == kDepthColumnsRows;
  const bool columns_outside = order == kColumnsRows || order == kDepthColumnsRows;
  if (depth_outside) add(part);
  if (outer != 0) add(loop_rows(point, outer));
  const bool packs = chosen(packs_, point, kPack) != 0;
  const bool columns_first =
      columns_outside || packs;  // with a pack there may be one round of rows
  if (columns_first) add(loop_columns(point));
  if (packs) step.elements.push_back({.loop = {}, .pack = {.operand = {'w'}, .transposed = true}});
  add(loop_rows(point, chosen(rows_, point, kRows)));
  if (!columns_first) add(loop_columns(point));
  if (sum != 0 && !depth_outside) add(part);
  Sum call{.axis = depth_, .depth = chosen(depths_, point, kDepth), .batch = {}};
  if (call.depth < (sum == 0 ? depth_extent_ : sum)) call.batch.push_back(depth_);
  if (batch_ != 1) call.batch.push_back(Axis::b);
  step.sums.push_back(call);
  const RegisterTile& tile = chosen(tiles_, point, kTile);
  step.marks.tile_rows = tile.rows;
  step.marks.tile_cols = tile.cols;
  step.marks.batch = chosen(forms_, point, kForm);
  step.marks.ahead = chosen(aheads_, point, kAhead);
  return transposes_once_ ? with_weights_once(schedule) : schedule;
}

}  // namespace loopbrick
