#include "tuner/model.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernels/brgemm_spec.h"
#include "loops/ranges.h"
#include "problems/operands.h"

// How a schedule is judged.
//
// A nest is a list of levels, outermost first: the loops of the text as one thread runs them, then
// what the kernel does inside: columns of tiles, rows of tiles, batch entries. A level walks one
// axis of a region in rounds; the region of one round is the region of the next level. Each region
// reads a known footprint of each operand.
//
// Bytes that cross the border of a cache follow from the inside out. Where the footprints of one
// round fit the cache, an operand that the next round reads again is still there: the level costs
// the union of its rounds. Where they do not fit, every round pays again. In between, at sizes near
// the cache's, the two are mixed.

namespace loopbrick {

namespace {

constexpr double kFloat = 4.0;
constexpr double kLine = 64.0;

std::size_t place(Axis axis) { return static_cast<std::size_t>(index_of(axis)); }

/// Bytes of A, B and C that one region touches.
struct Footprint {
  double a = 0.0, b = 0.0, c = 0.0;

  double all() const { return a + b + c; }
};

/// 0: fits; 1: does not, twice over; a straight line in between.
double miss_share(double bytes, double usable) {
  return usable <= 0.0 ? 0.0 : std::clamp(bytes / usable - 1.0, 0.0, 1.0);
}

double time_of(double bytes, double bandwidth) { return bandwidth > 0.0 ? bytes / bandwidth : 0.0; }

/// Whole parts, the last one shorter. (The library's ceil is a call without SSE 4.1.)
double parts(double total, double step) {
  const double exact = total / step - 1e-9;
  const auto whole = static_cast<double>(static_cast<std::int64_t>(exact));
  return whole < exact ? whole + 1.0 : whole;
}

/// `count` innermost rounds of the same size along one axis.
struct Piece {
  double size = 0.0;
  double count = 0.0;
};
using Pieces = Few<Piece, 12>;

void add(Pieces& to, double size, double count) {
  if (size <= 0.0 || count <= 0.0) return;
  for (Piece& piece : to) {
    if (piece.size == size || to.full()) {
      piece.count += count * size / piece.size;
      return;
    }
  }
  to.push_back({size, count});
}

Pieces cut(const Pieces& pieces, double step) {
  Pieces result;
  for (const Piece& piece : pieces) {
    const auto whole = static_cast<double>(static_cast<std::int64_t>(piece.size / step));
    add(result, step, whole * piece.count);
    add(result, piece.size - whole * step, piece.count);
  }
  return result;
}

}  // namespace

/// One prediction: the regions of the nest are found from the outside in, then everything is summed
/// up.
class ModelRun {
 public:
  ModelRun(const Model& model, const Step& step)
      : model_(model), ratios_(model.ratios_), contraction_(model.contraction_), step_(step) {}

  Prediction all() {
    find_shares();
    find_levels();
    find_pieces();
    add_work();
    add_traffic();
    add_up();
    return result_;
  }

 private:
  struct Region {
    std::array<double, kAxisCount> size{};
  };

  struct Level {
    double rounds = 1.0;
    double inside = 0.0;  ///< bytes of one round
    Footprint grows;      ///< bytes of all rounds over those of one, where nothing is read twice
  };

  const Loop* loop_at(int i) const {
    const Element& element = step_.elements[i];
    return element.is_pack() ? nullptr : &element.loop;
  }

  double extent(Axis axis) const {
    return axis == Axis::none ? 1.0 : static_cast<double>(contraction_.extent(axis));
  }

  Region whole() const {
    Region region;
    for (std::size_t i = 0; i < region.size.size(); ++i) {
      region.size[i] = static_cast<double>(std::max<std::int64_t>(1, contraction_.extents[i]));
    }
    return region;
  }

  /// Elements that the loop walks in this region.
  static double around(const Region& region, const Loop& loop) {
    const double size = region.size[place(loop.axis)];
    return loop.fused == Axis::none ? size : size * region.size[place(loop.fused)];
  }

  /// The region of one round of `step` elements.
  void shrink(Region& region, const Loop& loop, double step) const {
    double& size = region.size[place(loop.axis)];
    if (loop.fused == Axis::none) {
      size = std::min(size, step);
      return;
    }
    double& inner = region.size[place(loop.fused)];
    size = std::clamp(step / inner, 1.0, size);
    inner = std::min(inner, step);
  }

  /// Which part of each axis the slowest thread gets.
  void find_shares() {
    shares_.fill(1.0);
    Region region = whole();
    double cells = 1.0;
    double volume = 1.0;
    double share = 1.0;
    bool is_flat = false;
    int last = -1;
    for (int i = 0; i < step_.elements.size(); ++i) {
      const Loop* loop = loop_at(i);
      if (loop == nullptr) continue;
      const double step = std::min<double>(loop->step, around(region, *loop));
      if (loop->parallel) {
        const double rounds = parts(around(region, *loop), step);
        cells *= rounds;
        volume *= around(region, *loop) / step;
        is_flat = is_flat || loop->ways == 0;
        if (loop->ways != 0) {
          const double own =
              std::min(1.0, parts(rounds, loop->ways) * step / around(region, *loop));
          shares_[place(loop->axis)] *= own;
          share *= own;
        }
        last = i;
      }
      shrink(region, *loop, step);
    }
    if (is_flat) share = deal_flat(cells, volume, last);
    result_.imbalance = std::max(1.0, share * model_.conditions_.threads);
  }

  /// Runs of cells, the last letter of the grid fastest.
  double deal_flat(double cells, double volume, int last) {
    const double most = parts(cells, model_.conditions_.threads);
    double left = most;
    for (int i = last; i >= 0 && left > 0.0; --i) {
      const Loop* loop = loop_at(i);
      if (loop == nullptr || !loop->parallel) continue;
      Region region = whole();
      for (int outer = 0; outer < i; ++outer) {
        if (loop_at(outer) != nullptr) shrink(region, *loop_at(outer), loop_at(outer)->step);
      }
      const double size = around(region, *loop);
      const double step = std::min<double>(loop->step, size);
      const double own = std::min(parts(size, step), left);
      shares_[place(loop->axis)] = std::min(1.0, own * step / size);
      left = parts(left, own);
    }
    return std::min(1.0, most / volume);
  }

  void add_level(Region& region, const Loop& loop, double step) {
    const double size = around(region, loop);
    if (size <= step) return;
    Level level{.rounds = size / step, .inside = {}, .grows = {}};
    shrink(region, loop, step);
    const Footprint outside = inside_;
    inside_ = footprint(region);
    level.inside = inside_.all();
    level.grows = {outside.a / inside_.a, outside.b / inside_.b, outside.c / inside_.c};
    levels_.push_back(level);
    outer_rounds_ *= level.rounds;
  }

  void find_levels() {
    Region region = whole();
    for (std::size_t i = 0; i < shares_.size(); ++i)
      region.size[i] = std::max(1.0, region.size[i] * shares_[i]);
    whole_ = inside_ = footprint(region);
    std::array<double, kAxisCount> pending = shares_;
    for (int i = 0; i < step_.elements.size(); ++i) {
      const Loop* loop = loop_at(i);
      if (loop == nullptr) {
        add_pack();
        continue;
      }
      double& share = pending[place(loop->axis)];
      if (loop->parallel) share = 1.0;
      add_level(region, *loop, std::max(1.0, loop->step * share));
    }
    add_kernel_levels(region);
  }

  void add_pack() {
    const double lines = inside_.a / kLine;
    overhead_cycles_ += outer_rounds_ * lines * ratios_.copied_line_cycles *
                        model_.conditions_.threads / result_.imbalance;
  }

  void add_kernel_levels(Region& region) {
    find_tile(region);
    add_level(region, {.axis = contraction_.columns}, tile_cols_);
    if (contraction_.line != Axis::none) add_level(region, {.axis = contraction_.line}, 1.0);
    add_level(region, {.axis = contraction_.row}, tile_rows_);
    const Sum& sum = step_.sums[0];
    for (const Axis axis : sum.batch)
      add_level(region, {.axis = axis}, axis == sum.axis ? sum.depth : 1.0);
  }

  void find_tile(const Region& region) {
    BrgemmSpec spec;
    spec.isa = model_.conditions_.isa;
    const double lines =
        contraction_.line == Axis::none ? 1.0 : region.size[place(contraction_.line)];
    spec.m = static_cast<int>(std::max(1.0, lines * region.size[place(contraction_.row)]));
    spec.n = static_cast<int>(region.size[place(contraction_.columns)]);
    spec.tile_rows = step_.marks.tile_rows;
    spec.tile_cols = step_.marks.tile_cols;
    const RegisterTile tile = register_tile(spec);
    tile_rows_ = tile.rows;
    tile_cols_ = tile.cols;
  }

  Footprint footprint(const Region& region) const {
    const auto product = [&region](const auto& axes) {
      double elements = kFloat;
      for (const int axis : axes) elements *= region.size[static_cast<std::size_t>(axis)];
      return elements;
    };
    Footprint bytes{product(model_.a_axes_), product(model_.b_axes_), product(model_.c_axes_)};
    for (const Border& border : contraction_.borders) {
      const double outs = region.size[place(border.out)];
      const double taps = region.size[place(border.tap)];
      const double reach = (outs - 1.0) * static_cast<double>(border.stride) +
                           (taps - 1.0) * static_cast<double>(border.dilation) + 1.0;
      bytes.a *= std::min({reach, outs * taps, static_cast<double>(border.extent)});
    }
    return bytes;
  }

  /// The sizes of the calls: columns, lines and rows of each.
  void find_pieces() {
    columns_.push_back({extent(contraction_.columns), 1.0});
    lines_.push_back({extent(contraction_.line), 1.0});
    rows_.push_back({extent(contraction_.row), 1.0});
    bool is_flat = false;
    for (int i = 0; i < step_.elements.size(); ++i) {
      const Loop* loop = loop_at(i);
      if (loop == nullptr) continue;
      if (loop->fused != Axis::none && !is_flat) {
        is_flat = true;
        for (Piece& piece : lines_) piece.size *= extent(contraction_.row);
        rows_ = lines_;
        lines_ = {{1.0, 1.0}};
      }
      if (loop->axis == contraction_.columns) columns_ = cut(columns_, loop->step);
      if (is_flat ? loop->fused != Axis::none : loop->axis == contraction_.row) {
        rows_ = cut(rows_, loop->step);
      } else if (loop->axis == contraction_.line) {
        lines_ = cut(lines_, loop->step);
      }
      if (contraction_.is_sum(loop->axis)) passes_ *= parts(extent(loop->axis), loop->step);
    }
  }

  /// Kernel cycles of all threads.
  void add_work() {
    const bool windows = contraction_.has_rim() && step_.marks.rim == Rim::window;
    const double on_image = windows ? model_.on_image_ : 1.0;
    double depth = 1.0;
    for (const Axis axis : contraction_.sums) depth *= extent(axis);
    double outputs = 1.0;
    for (const Axis axis : contraction_.outputs) outputs *= extent(axis);
    double repeats = 1.0;
    for (const Axis axis : contraction_.outputs) {
      if (axis != contraction_.columns && axis != contraction_.line && axis != contraction_.row) {
        repeats *= extent(axis);
      }
    }
    result_.executed_flops = 2.0 * outputs * depth * on_image;
    const double entries =
        depth / std::clamp<double>(extent(contraction_.depth), 1.0, step_.sums[0].depth);
    const double groups = windows ? border_groups() : 0.0;
    const double listed = step_.marks.batch == BatchForm::address ? ratios_.listed_cycles : 0.0;
    for (const Piece& columns : columns_) {
      for (const Piece& lines : lines_) {
        for (const Piece& rows : rows_) {
          const double calls = repeats * columns.count * lines.count * rows.count;
          const Call call{columns.size, lines.size, rows.size};
          const Cycles cycles = tiles_of(call);
          compute_cycles_ += calls * cycles.step * depth * on_image;
          overhead_cycles_ +=
              calls * (passes_ * (cycles.edge + ratios_.call_cycles +
                                  cycles.tiles * groups * ratios_.window_cycles) +
                       entries * on_image * (cycles.tiles * ratios_.entry_cycles + listed));
          result_.calls += calls * passes_;
        }
      }
    }
  }

  struct Call {
    double columns, lines, rows;
  };
  struct Cycles {
    double step = 0.0;  ///< of one step of the sum, over all tiles of the call
    double edge = 0.0;  ///< of starting and finishing all tiles once
    double tiles = 0.0;
  };

  Cycles tiles_of(const Call& call) const {
    Cycles cycles;
    // next= adds the prefetch of a line, which holds as many values, to the broadcasts of A
    const double prefetches = step_.marks.next == Axis::none ? 1.0 : 1.0 + kFloat / kLine;
    Pieces wide;
    wide.push_back({call.columns, 1.0});
    for (const Piece& columns : cut(wide, tile_cols_)) {
      const double vectors = parts(columns.size, model_.vector_);
      const double rows = call.rows * call.lines;
      const double tiles = parts(rows, tile_rows_) * columns.count;
      const double tile_rows = rows * columns.count / tiles;  // dealt evenly
      const double loads = tile_rows * prefetches + (step_.marks.ahead > 0 ? 2.0 : 1.0) * vectors;
      const double step =
          std::max({tile_rows * vectors / model_.multiply_adds_per_cycle_,
                    loads / ratios_.loads_per_cycle, ratios_.multiply_add_latency}) +
          loads * ratios_.load_cycles;
      const double stores = tile_rows * vectors / ratios_.stores_per_cycle;
      cycles.step += tiles * step;
      cycles.edge += tiles * (ratios_.tile_cycles + stores * (passes_ > 1.0 ? 2.0 : 1.0));
      cycles.tiles += tiles;
    }
    return cycles;
  }

  /// More window groups than one that a call has on average.
  double border_groups() const {
    if (contraction_.borders.size() < 2) return 0.0;
    const Border& across = contraction_.borders[1];
    double calls = 0.0;
    for (const Piece& piece : rows_) calls += piece.count;
    return (extent(across.tap) - 1.0) * std::min(1.0, 2.0 / std::max(1.0, calls));
  }

  /// Bytes that one thread moves into and out of a cache of `usable` bytes, in one run.
  double moved(double usable) const {
    Footprint bytes = inside_;
    for (int i = levels_.size(); i-- > 0;) {
      const Level& level = levels_[i];
      const double miss = miss_share(level.inside, usable);
      const double again = miss * level.rounds;
      bytes.a *= (1.0 - miss) * level.grows.a + again;
      bytes.b *= (1.0 - miss) * level.grows.b + again;
      bytes.c *= (1.0 - miss) * level.grows.c + again;
    }
    return bytes.a + bytes.b + (step_.marks.stream ? 0.0 : 2.0 * bytes.c);
  }

  void add_traffic() {
    const bool is_warm = model_.conditions_.cache == CacheState::warm;
    const double threads = model_.conditions_.threads;
    std::array<double, 3> bytes{};
    for (std::size_t cache = 0; cache < bytes.size(); ++cache) {
      bytes[cache] = moved(model_.usable_bytes_[cache]);
      const double held = cache == 2 ? model_.total_bytes_ : whole_.all();
      const double room = cache == 2 ? model_.l3_bytes_ : model_.usable_bytes_[cache];
      if (is_warm) bytes[cache] *= miss_share(held, room);
    }
    if (step_.marks.stream) bytes[2] += whole_.c;
    result_.l2_bytes = bytes[0] * threads;
    result_.l3_bytes = bytes[1] * threads;
    result_.dram_bytes = bytes[2] * threads;
    result_.l2 = time_of(bytes[0], model_.limits_.l2_bandwidth);
    result_.l3 = time_of(bytes[1], model_.limits_.l3_bandwidth);
    result_.dram = time_of(result_.dram_bytes, model_.limits_.dram_bandwidth);
  }

  void add_up() {
    const double threads = model_.conditions_.threads;
    const double slowest = result_.imbalance / (threads * model_.limits_.clock_hz);
    result_.compute = compute_cycles_ * slowest;
    result_.overhead =
        overhead_cycles_ * slowest + (threads > 1.0 ? model_.limits_.fork_seconds : 0.0);
    const double late = step_.marks.next == Axis::none ? 1.0 : ratios_.exposed_next;
    const double exposed =
        ratios_.exposed_l2 * result_.l2 +
        late * (ratios_.exposed_l3 * result_.l3 + ratios_.exposed_dram * result_.dram);
    result_.seconds = std::max(
        {result_.compute + result_.overhead + exposed, result_.l2, result_.l3, result_.dram});
  }

  const Model& model_;
  const ModelRatios& ratios_;
  const Contraction& contraction_;
  const Step& step_;
  Prediction result_;
  std::array<double, kAxisCount> shares_{};
  Few<Level, 20> levels_;  ///< those of several rounds
  Footprint whole_;        ///< of one thread
  Footprint inside_;       ///< of one round of the innermost level so far
  double outer_rounds_ = 1.0;
  double tile_rows_ = 1.0;
  double tile_cols_ = 1.0;
  Pieces columns_, lines_, rows_;
  double passes_ = 1.0;  ///< calls that add to one tile of C
  double compute_cycles_ = 0.0;
  double overhead_cycles_ = 0.0;
};

Model::Model(const Problem& problem, const Conditions& conditions, const Machine& machine,
             const Limits& limits, const ModelRatios& ratios)
    : conditions_(conditions), limits_(limits), ratios_(ratios) {
  const std::variant<Contraction, Refusal> found = contraction(problem);
  if (const auto* refusal = std::get_if<Refusal>(&found)) {
    throw std::invalid_argument("Model: " + to_string(*refusal));
  }
  contraction_ = std::get<Contraction>(found);
  if (limits_.clock_hz <= 0.0) limits_.clock_hz = 1e9;
  vector_ = lanes(conditions.isa);
  const double vectors_a_second = limits.peak_flops / (2.0 * vector_ * std::max(1, limits.threads));
  if (vectors_a_second > 0.0) {
    // Pipes are whole: what the probe misses to the next half is clock, not pipes.
    multiply_adds_per_cycle_ =
        std::max(0.5, std::round(2.0 * vectors_a_second / limits_.clock_hz) / 2.0);
    limits_.clock_hz = vectors_a_second / multiply_adds_per_cycle_;
  }
  usable_bytes_ = {
      static_cast<double>(machine.l1d_bytes) * ratios.usable_cache,
      static_cast<double>(machine.l2_bytes) * ratios.usable_cache,
      static_cast<double>(machine.l3_bytes) * ratios.usable_cache / conditions.threads};
  l3_bytes_ = static_cast<double>(machine.l3_bytes) * ratios.usable_cache;
  total_bytes_ = static_cast<double>(total_bytes(problem));
  find_operand_axes();
}

/// Axes that an operand's size is the product of; those at a border are counted by the border.
void Model::find_operand_axes() {
  const auto is_at_border = [this](Axis axis) {
    for (const Border& border : contraction_.borders) {
      if (border.out == axis || border.tap == axis) return true;
    }
    return false;
  };
  for (const Axis axis : contraction_.outputs) {
    c_axes_.push_back(index_of(axis));
    if (axis != contraction_.columns && !is_at_border(axis)) a_axes_.push_back(index_of(axis));
  }
  b_axes_.push_back(index_of(contraction_.columns));
  for (const Axis axis : contraction_.sums) {
    b_axes_.push_back(index_of(axis));
    if (!is_at_border(axis)) a_axes_.push_back(index_of(axis));
  }
  for (const Border& border : contraction_.borders) {
    const std::int64_t outs = contraction_.extent(border.out);
    const std::int64_t taps = contraction_.extent(border.tap);
    on_image_ *= static_cast<double>(pairs_on_image(border, outs, taps)) /
                 (static_cast<double>(outs) * static_cast<double>(taps));
  }
}

Prediction Model::predict(const Schedule& schedule) const {
  for (const Step& step : schedule.steps) {
    if (step.body == Body::call) return ModelRun(*this, step).all();
  }
  return {};
}

}  // namespace loopbrick
