#include "tuner/conv_space.h"

#include <algorithm>
#include <cassert>

#include "tuner/register_tiles.h"
#include "tuner/steps.h"

namespace loopbrick {

namespace {

/// Rows of one call: enough to pay for the call, few enough that its rows of A stay near.
constexpr int kLeastRows = 6;
constexpr int kMostRows = 800;

/// Widest call that is tried where the layout has no channel blocks.
constexpr int kMostCols = 128;

std::string shares_text(Slots shared) {
  std::string text;
  for (const Slot slot : {Slot::n, Slot::k_outer, Slot::k, Slot::p_outer, Slot::p, Slot::q}) {
    if ((shared & bit(slot)) == 0) continue;
    if (!text.empty()) text += "+";
    text += to_string(slot);
  }
  return text.empty() ? "none" : text;
}

int block_of(std::int64_t block, std::int64_t channels) {
  return static_cast<int>(std::min<std::int64_t>(block == 0 ? channels : block, INT32_MAX));
}

/// The contraction's convolution: of a pass by data that of dy, which has stride 1.
Conv forward_conv(const Contraction& to) {
  const Border& down = to.borders[0];
  const Border& across = to.borders[1];
  return {.n = to.extent(Axis::n),
          .c = to.extent(to.depth),
          .h = down.extent,
          .w = across.extent,
          .k = to.extent(to.columns),
          .p = to.extent(to.line),
          .q = to.extent(to.row),
          .r = to.extent(down.tap),
          .s = to.extent(across.tap),
          .stride_h = down.stride,
          .stride_w = across.stride,
          .pad_h = down.pad,
          .pad_w = across.pad,
          .dilation_h = down.dilation,
          .dilation_w = across.dilation};
}

void append(std::vector<int>& to, const std::vector<int>& values) {
  for (const int value : values) {
    if (std::find(to.begin(), to.end(), value) == to.end()) to.push_back(value);
  }
}

}  // namespace

ConvSpace::ConvSpace(const Contraction& contraction, const Conditions& conditions)
    : conv_(forward_conv(contraction)),
      conditions_(conditions),
      is_by_data_(contraction.b_is_transposed),
      has_phases_(!contraction.phases.empty()),
      c_block_(block_of(contraction.depth_block, conv_.c)),
      k_block_(block_of(contraction.columns_block, conv_.k)),
      rim_down_(contraction.has_rim_down()),
      rim_across_(!rim_down_ && contraction.has_rim()) {
  is_flat_ = is_flat_by_nature();
  add_channels();
  add_pixels();
  add_tiles();
  add_threads();
}

void ConvSpace::add_channels() {
  const int vector = lanes(conditions_.isa);
  if (k_block_ <= kMostCols) cols_.push_back(k_block_);
  for (int cols = 8 * vector; cols >= vector; cols -= vector) {
    const bool fits = cols < k_block_ && cols <= kMostCols;
    if (fits && (k_block_ == conv_.k || k_block_ % cols == 0)) cols_.push_back(cols);
  }
  if (cols_.empty()) cols_.push_back(k_block_);
  depths_ = divisors(c_block_, std::min(c_block_, 16), 512);
  if (depths_.empty()) depths_.push_back(c_block_);
  sums_.push_back(0);
  for (std::int64_t part = std::min(c_block_, 64); part < conv_.c; part *= 2) {
    sums_.push_back(static_cast<int>(part));
  }
  taps_ = {Taps::batch};
  if (conv_.r > 1) taps_.push_back(Taps::r_looped);
  if (conv_.s > 1) taps_.push_back(Taps::rs_looped);
  k_outers_.push_back(0);
  for (std::int64_t part = std::max(2 * cols_.back(), 64); part < conv_.k && part <= 2048;
       part *= 2) {
    k_outers_.push_back(static_cast<int>(part));
  }
}

void ConvSpace::add_pixels() {
  p_outers_ = {0};
  for (const int lines : halved_steps(conv_.p, 2, INT32_MAX)) {
    if (lines < conv_.p) p_outers_.push_back(lines);
  }
  const std::vector<int> widths = even_steps(conv_.q, kLeastRows, kMostRows);
  for (const int q : widths) pixels_.push_back({.flat = false, .p = 1, .q = q});
  for (const int q : widths) {
    if (q * 2 < conv_.q) break;
    for (const int p : even_steps(conv_.p, 2, kMostRows / q)) {
      if (p > 1) pixels_.push_back({.flat = false, .p = p, .q = q});
    }
  }
  if (has_phases_ || conv_.p == 1 || (conv_.r * conv_.s > 1 && !is_flat_)) return;
  std::vector<int> counts;
  for (const int lines : p_outers_) {
    append(counts, even_steps(lines_around(lines) * conv_.q, 12, kMostRows));
  }
  for (const int count : counts) pixels_.push_back({.flat = true, .p = 1, .q = count});
}

void ConvSpace::add_tiles() {
  tiles_ = register_tiles(conditions_.isa);
  std::vector<std::vector<std::uint8_t>> classes;
  for (const Pixels& pixels : pixels_) {
    for (const int cols : cols_) {
      std::vector<std::uint8_t> fits;
      for (const RegisterTile& tile : tiles_) {
        const int rows = pixels.flat ? pixels.q : pixels.p * pixels.q;
        fits.push_back(is_tile_of(conditions_.isa, tile, rows, cols) ? 1 : 0);
      }
      tile_fits_.insert(tile_fits_.end(), fits.begin(), fits.end());
      const auto known = std::find(classes.begin(), classes.end(), fits);
      tile_class_.push_back(static_cast<std::uint8_t>(known - classes.begin()));
      if (known == classes.end()) classes.push_back(fits);
    }
  }
}

void ConvSpace::add_threads() {
  const int threads = conditions_.threads;
  aheads_ = {0, 1, 2, 4};
  batches_ = {BatchForm::offset, BatchForm::address, BatchForm::stride};
  rims_ = {Rim::window};
  if (has_rim()) rims_.push_back(Rim::copy);
  packs_ = {std::nullopt,  Slot::n, Slot::k_outer, Slot::k,
            Slot::p_outer, Slot::p, Slot::q,       Slot::c};
  if (has_phases_) packs_ = {std::nullopt};
  weights_ = {0};
  if (is_by_data_ && !conditions_.transposes_once) weights_.push_back(1);
  streams_ = {0, 1};
  nexts_ = {0, 1};
  rotates_ = {0};
  ways_ = {{}};
  shares_ = {0};
  if (threads == 1) return;
  rotates_.push_back(1);
  for (int n = 1; n <= threads; ++n) {
    for (int k = 1; n * k <= threads && threads % n == 0; ++k) {
      if (threads % (n * k) == 0) ways_.push_back({n, k, threads / (n * k)});
    }
  }
  shares_.clear();
  for (const Slots n : {Slots{0}, bit(Slot::n)}) {
    for (const Slots k : {Slots{0}, bit(Slot::k_outer), bit(Slot::k)}) {
      for (const Slots p : {Slots{0}, bit(Slot::p_outer), bit(Slot::p), bit(Slot::q)}) {
        if ((n | k | p) != 0) shares_.push_back(static_cast<Slots>(n | k | p));
      }
    }
  }
}

/// Output pixels follow each other at one stride in the input, across lines too.
bool ConvSpace::is_flat_by_nature() const {
  return !has_rim() && (conv_.p == 1 || conv_.stride_h * conv_.w == conv_.stride_w * conv_.q);
}

std::vector<Choice> ConvSpace::choices() const {
  std::vector<Choice> list(kPlaces);
  const auto fill = [&list](Place place, const char* name, const auto& values, auto text) {
    list[place].name = name;
    for (const auto& value : values) list[place].values.push_back(text(value));
  };
  const auto number = [](int value) { return value == 0 ? "all" : std::to_string(value); };
  const auto part = [](int value) { return value == 0 ? "none" : std::to_string(value); };
  const auto yes = [](std::uint8_t value) { return std::string(value == 0 ? "no" : "yes"); };
  fill(kCols, "columns of a call", cols_, number);
  fill(kDepth, "channels of a batch entry", depths_, number);
  fill(kSum, "channels of a call", sums_, number);
  fill(kTaps, "filter taps of a call", taps_, [](Taps taps) {
    return std::string(taps == Taps::batch ? "all" : taps == Taps::r_looped ? "one row" : "one");
  });
  fill(kBatch, "batch form", batches_, [](BatchForm form) { return std::string(to_string(form)); });
  fill(kAhead, "prefetch ahead", aheads_, [](int ahead) { return std::to_string(ahead); });
  fill(kStream, "stream y", streams_, yes);
  fill(kPixels, "pixels of a call", pixels_, [](const Pixels& pixels) {
    if (pixels.flat) return "pq" + std::to_string(pixels.q);
    return "p" + std::to_string(pixels.p) + " q" + std::to_string(pixels.q);
  });
  fill(kKOuter, "block of k", k_outers_, part);
  fill(kPOuter, "piece of p", p_outers_, part);
  std::vector<int> orders(static_cast<std::size_t>(LoopOrders::all().size()));
  for (std::size_t i = 0; i < orders.size(); ++i) orders[i] = static_cast<int>(i);
  fill(kOrder, "order", orders, [](int i) { return LoopOrders::all().text(i); });
  fill(kShare, "shared by threads", shares_, shares_text);
  fill(kWays, "thread grid", ways_, [](const Ways& ways) {
    if (ways.n == 0) return std::string("flat");
    return "n" + std::to_string(ways.n) + " k" + std::to_string(ways.k) + " p" +
           std::to_string(ways.p);
  });
  fill(kRotate, "rotate k", rotates_, yes);
  fill(kPack, "copy of x", packs_, [](std::optional<Slot> slot) {
    return slot ? "in " + std::string(to_string(*slot)) : "none";
  });
  fill(kWeights, "transpose the weights", weights_,
       [](std::uint8_t panels) { return std::string(panels == 0 ? "first" : "panel by panel"); });
  fill(kRim, "rim", rims_,
       [](Rim rim) { return std::string(rim == Rim::copy ? "copy" : "window"); });
  fill(kTile, "register tile", tiles_, [](const RegisterTile& tile) {
    if (tile.rows == 0) return std::string("usual");
    return std::to_string(tile.rows) + "x" + std::to_string(tile.cols);
  });
  fill(kNext, "prefetch the next x", nexts_, yes);
  for (const Place place : {kDepth, kBatch, kAhead, kStream, kRotate}) {
    list[place].is_refinement = true;
  }
  return list;
}

}  // namespace loopbrick
