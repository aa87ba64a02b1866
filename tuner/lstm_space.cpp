#include "tuner/lstm_space.h"

#include <algorithm>
#include <fmt/format.h>

#include "tuner/register_tiles.h"
#include "tuner/steps.h"

namespace loopbrick {

namespace {

constexpr int kMostRows = 256;
constexpr int kMostDepth = 1024;

// Places of the choices. Both passes begin with the columns and end with the marks.
enum Forward { kColumns, kForm, kDepth, kRows, kOrder, kInputRows, kInputOrder, kForwardMarks };
enum Backward {
  kWhen = 1,
  kElementRows,
  kStateRows,
  kStateOrder,
  kDataRows,
  kDataOrder,
  kFeatures,
  kTimes,
  kWeightOrder,
  kBackwardMarks
};
enum Mark { kTile, kAhead };  ///< behind kForwardMarks or kBackwardMarks

constexpr const char* kInTime = "in every time step";

constexpr const char* kOneRound = "a loop of one round has no other place";

/// What divides a block of `extent` features, or whole vectors where all are one block.
std::vector<int> column_steps(std::int64_t extent, int vector) {
  const std::int64_t block = channel_block(Layout::blocked, extent);
  const int most = static_cast<int>(std::min<std::int64_t>(block, 64));
  if (block == extent && extent > 64) return {64, 48, 32, 16};
  std::vector<int> steps = divisors(block, std::min(most, vector), most);
  if (steps.empty()) steps.push_back(most);
  return steps;
}

/// Whether a call may take so many features at once: any number where all are one block, else what
/// divides it.
bool fits(std::int64_t step, std::int64_t extent) {
  const std::int64_t block = channel_block(Layout::blocked, extent);
  return block == extent || block % step == 0;
}

/// Features of a call's depth or rows that suit inputs and hidden units alike.
std::vector<int> feature_steps(const Lstm& lstm) {
  std::vector<int> steps;
  const std::int64_t most = std::max(lstm.c, lstm.k);
  for (const int step : {64, 32, 16, 8, 4, 2, 1}) {
    const int own = static_cast<int>(std::min<std::int64_t>(step, most));
    const bool is_new = steps.empty() || steps.back() != own;
    if (is_new && fits(step, lstm.c) && fits(step, lstm.k)) steps.push_back(own);
    if (steps.size() == 3) break;
  }
  if (most <= kMostDepth && fits(most, lstm.c) && fits(most, lstm.k) && most > 64)
    steps.push_back(static_cast<int>(most));
  return steps;
}

std::string sum(char axis, std::int64_t depth, std::int64_t extent) {
  const std::int64_t entry = std::min(depth, extent);
  return fmt::format("{}{}{}", axis, entry, entry < extent ? fmt::format(" * {}", axis) : "");
}

std::string loop(char axis, std::int64_t step) {
  return step == 1 ? std::string(1, axis) : fmt::format("{}{}", axis, step);
}

/// The letters of `order` as loops with these steps.
struct LoopSteps {
  std::int64_t n = 1, k = 1, c = 1, h = 1, t = 1;

  std::string text(const std::string& order) const {
    std::string loops;
    for (const char letter : order) {
      if (letter == ' ') continue;
      const char axis = static_cast<char>(letter | 0x20);
      const std::int64_t step = axis == 'n'   ? n
                                : axis == 'k' ? k
                                : axis == 'c' ? c
                                : axis == 'h' ? h
                                : axis == 't' ? t
                                              : 1;
      loops += loop(letter, step) + " ";
    }
    return loops;
  }
};

}  // namespace

LstmSpace::LstmSpace(const Problem& problem, const Conditions& conditions)
    : problem_(problem), lstm_(std::get<Lstm>(problem.shape)), conditions_(conditions) {
  add_numbers("columns of a call", column_steps(lstm_.k, lanes(conditions.isa)));
  is_backward() ? add_backward() : add_forward();
  add_register_tiles();
  add_numbers("prefetch ahead", {0, 1, 2, 4});
  options_.back().is_refinement = true;
}

void LstmSpace::add_numbers(const std::string& name, std::vector<int> numbers) {
  Options options{.name = name, .texts = {}, .numbers = {}};
  for (const int value : numbers) {
    options.texts.push_back(value == 0 ? "none" : std::to_string(value));
    options.numbers.push_back(value);
  }
  options_.push_back(std::move(options));
}

void LstmSpace::add_texts(const std::string& name, std::vector<std::string> texts) {
  options_.push_back({.name = name, .texts = std::move(texts), .numbers = {}});
}

void LstmSpace::add_register_tiles() {
  std::vector<std::string> texts;
  for (const RegisterTile& tile : register_tiles(conditions_.isa))
    texts.push_back(tile.rows == 0 ? "usual" : fmt::format("{}x{}", tile.rows, tile.cols));
  add_texts("register tile", std::move(texts));
}

void LstmSpace::add_forward() {
  const std::vector<int> rows = even_steps(lstm_.n, 24, kMostRows);
  add_texts("form", {"diffused", "fused"});
  add_numbers("depth of a batch entry", feature_steps(lstm_));
  add_numbers("rows of a call", rows);
  add_texts("order", {"K g n", "N K g", "K N g"});
  add_numbers("rows of a call before the time steps", rows);
  add_texts("order before the time steps", {"T K g n", "T N K g", "K g t n", "K t g n"});
}

void LstmSpace::add_backward() {
  const std::vector<int> rows = even_steps(lstm_.n, 24, kMostRows);
  add_texts("gradients", {kInTime, "behind the time steps"});
  add_numbers("rows of the element-wise part", rows);
  add_numbers("rows of dh", rows);
  add_texts("order of dh", {"H g n", "N H", "H N", "H n"});
  add_numbers("rows of dx", rows);
  add_texts("order of dx", {"T C n", "T N C", "T C g n", "C t n", "C g t n"});
  add_numbers("features of dw and dr", feature_steps(lstm_));
  add_numbers("time steps of one sum", {0, 8, 1, 2, 4, 16});
  add_texts("order of dw and dr", {"K G c", "C K G", "K C G"});
}

std::vector<Choice> LstmSpace::choices() const {
  std::vector<Choice> list;
  for (const Options& options : options_) {
    list.push_back(
        {.name = options.name, .values = options.texts, .is_refinement = options.is_refinement});
  }
  return list;
}

std::int64_t LstmSpace::number(const Point& point, int place) const {
  return options_[static_cast<std::size_t>(place)].numbers[point[place]];
}

const std::string& LstmSpace::text(const Point& point, int place) const {
  return options_[static_cast<std::size_t>(place)].texts[point[place]];
}

std::optional<Refusal> LstmSpace::why_not(const Point& point) const {
  const auto all = static_cast<int>(options_.size());
  if (point.size() == all - kAhead) {  // with the register tile
    const RegisterTile tile = register_tiles(conditions_.isa)[point.back()];
    const int place = is_backward() ? int{kStateRows} : int{kRows};
    const bool has_tile = is_tile_of(conditions_.isa, tile, static_cast<int>(number(point, place)),
                                     static_cast<int>(number(point, kColumns)));
    if (has_tile) return std::nullopt;
    return Refusal{"the register tile has no kernel, is larger than the call or is the usual one",
                   tile.rows, 0, 'k'};
  }
  if (point.size() == all || point.empty()) return std::nullopt;
  return is_backward() ? why_not_backward(point) : why_not_forward(point);
}

/// The rules look at the last choice, the form or place of the gradients, and the columns and rows
/// that a register tile must fit.
std::uint64_t LstmSpace::state(const Point& point) const {
  std::uint64_t state = 0;
  const auto add = [&](int place) {
    state = state << 16U | (place < point.size() ? point[place] + 1U : 0U);
  };
  add(kColumns);
  add(is_backward() ? int{kStateRows} : int{kRows});
  add(is_backward() ? int{kWhen} : int{kForm});
  add(point.size() - 1);
  return state;
}

std::optional<Refusal> LstmSpace::why_not_forward(const Point& point) const {
  const int place = point.size() - 1;
  if (place == kOrder && text(point, kOrder) == "N K g" && number(point, kRows) >= lstm_.n)
    return Refusal{kOneRound, 1, 2, 'n'};
  const bool before_time = place == kInputRows || place == kInputOrder;
  if (before_time && text(point, kForm) == "fused" && point.back() != 0)
    return Refusal{"the fused form has nothing before the time steps", 0, 0, 't'};
  if (place == kInputOrder && text(point, place) == "T N K g" &&
      number(point, kInputRows) >= lstm_.n) {
    return Refusal{kOneRound, 1, 2, 'n'};
  }
  return std::nullopt;
}

std::optional<Refusal> LstmSpace::why_not_backward(const Point& point) const {
  const int place = point.size() - 1;
  const auto splits = [&](int order, int rows) {
    return place == order && text(point, order).find('N') != std::string::npos &&
           number(point, rows) >= lstm_.n;
  };
  if (splits(kStateOrder, kStateRows) || splits(kDataOrder, kDataRows))
    return Refusal{kOneRound, 1, 2, 'n'};
  const bool in_time = text(point, kWhen) == kInTime;
  if (place == kDataOrder && in_time && text(point, place).front() != 'T')
    return Refusal{"in a time step no loop walks the time", 0, 0, 't'};
  if (place == kTimes && in_time && point.back() != 0)
    return Refusal{"in a time step one time step is summed", 1, 1, 't'};
  const std::int64_t most = std::max(lstm_.c, lstm_.k);
  if (place == kFeatures && point.back() != 0 && number(point, kFeatures) > most)
    return Refusal{"more features than the layer has", number(point, kFeatures), most, 'c'};
  if (place == kTimes && number(point, kTimes) >= lstm_.t)
    return Refusal{"a part of the time steps is all of them", number(point, kTimes), lstm_.t, 't'};
  return std::nullopt;
}

std::string LstmSpace::marks(const Point& point) const {
  const int first = is_backward() ? int{kBackwardMarks} : int{kForwardMarks};
  std::string marks;
  const std::string& tile = text(point, first + kTile);
  if (tile != "usual") marks += " tile=" + tile;
  const std::int64_t ahead = number(point, first + kAhead);
  return ahead == 0 ? marks : marks + fmt::format(" ahead={}", ahead);
}

std::string LstmSpace::forward(const Point& point) const {
  const std::int64_t depth = number(point, kDepth);
  const std::string with_c = sum('c', depth, lstm_.c), with_h = sum('h', depth, lstm_.k);
  const LoopSteps cell{.n = number(point, kRows), .k = number(point, kColumns)};
  const std::string loops = cell.text(text(point, kOrder));
  if (text(point, kForm) == "fused")
    return fmt::format("t {{ {}@ {} + {}{} ; }}", loops, with_c, with_h, marks(point));
  const LoopSteps before{.n = number(point, kInputRows), .k = number(point, kColumns)};
  return fmt::format("{}@ {}{} ; t {{ {}@ {}{} ; }}", before.text(text(point, kInputOrder)), with_c,
                     marks(point), loops, with_h, marks(point));
}

std::string LstmSpace::backward(const Point& point) const {
  const std::int64_t columns = number(point, kColumns);
  const std::int64_t block = channel_block(Layout::blocked, lstm_.k);
  const std::string depth = fmt::format("k{}", std::min<std::int64_t>(block, kMostDepth));
  const std::string over_k = block < lstm_.k ? " k" : "";
  const bool in_time = text(point, kWhen) == kInTime;
  /// dh and dx sum over k, and over the gates unless a loop walks them.
  const auto by_data = [&](const std::string& order, const LoopSteps& steps) {
    const bool walks_g = order.find('g') != std::string::npos;
    const std::string batch = (walks_g ? "" : " g") + over_k;
    return fmt::format("{}@ {}{}{}{}", steps.text(order), depth, batch.empty() ? "" : " *", batch,
                       marks(point));
  };
  const auto by_weights = [&](char feature) {
    const std::int64_t times = number(point, kTimes);
    std::string order = text(point, kWeightOrder);
    for (char& letter : order) {
      if (feature == 'h' && (letter | 0x20) == 'c') letter = static_cast<char>(letter + 'h' - 'c');
    }
    const std::int64_t features = number(point, kFeatures);
    const LoopSteps steps{.k = columns,
                          .c = std::min(features, lstm_.c),
                          .h = std::min(features, lstm_.k),
                          .t = times};
    const std::int64_t rows = std::min<std::int64_t>(lstm_.n, kMostRows);
    const bool walks_t = !in_time && times != 1;
    const std::string batch = fmt::format("{}{}", rows < lstm_.n ? " n" : "", walks_t ? " t" : "");
    return fmt::format("{}@ n{}{}{}{}", steps.text((times == 0 ? "" : "t ") + order), rows,
                       batch.empty() ? "" : " *", batch, marks(point));
  };
  const std::string elementwise =
      LoopSteps{.n = number(point, kElementRows), .k = columns}.text("N K");
  const std::string dh =
      by_data(text(point, kStateOrder),
              {.n = number(point, kStateRows), .h = std::min<std::int64_t>(columns, lstm_.k)});
  const std::string dx =
      by_data(text(point, kDataOrder).substr(in_time ? 1 : 0),
              {.n = number(point, kDataRows), .c = std::min<std::int64_t>(columns, lstm_.c)});
  const std::string weights = fmt::format("{} , {}", by_weights('c'), by_weights('h'));
  return in_time ? fmt::format("t {{ {}elt ; {} , {} , {} ; }}", elementwise, dh, dx, weights)
                 : fmt::format("t {{ {}elt ; {} ; }} ; {} , {}", elementwise, dh, dx, weights);
}

Schedule LstmSpace::schedule(const Point& point) const {
  return parse_schedule(is_backward() ? backward(point) : forward(point));
}

}  // namespace loopbrick
