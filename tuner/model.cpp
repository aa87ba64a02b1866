#include "tuner/model.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "loops/ranges.h"
#include "loops/step_facts.h"
#include "problems/operands.h"
#include "tuner/call_sizes.h"
#include "tuner/shares.h"

namespace loopbrick {

namespace {

constexpr double kLine = 64.0;

double time_of(double bytes, double bandwidth) { return bandwidth > 0.0 ? bytes / bandwidth : 0.0; }

Contraction contraction_or_throw(const Problem& problem) {
  const std::variant<Contraction, Refusal> found = contraction(problem);
  if (const auto* refusal = std::get_if<Refusal>(&found)) {
    throw std::invalid_argument("Model: " + to_string(*refusal));
  }
  return std::get<Contraction>(found);
}

}  // namespace

/// One prediction.
class ModelRun {
 public:
  ModelRun(const Model& model, const Step& step, bool transposed_once)
      : model_(model),
        transposed_once_(transposed_once),
        ratios_(model.ratios_),
        contraction_(model.contraction_),
        step_(step),
        shares_(shares_of_slowest(contraction_, step, model.conditions_.threads)),
        reuse_(contraction_, model.footprints_, step, shares_.of_axis, model.conditions_.isa),
        sizes_(call_sizes(contraction_, step)) {}

  Prediction all() {
    result_.imbalance = shares_.imbalance(model_.conditions_.threads);
    add_work();
    add_copies();
    add_traffic();
    add_up();
    return result_;
  }

 private:
  double extent(Axis axis) const {
    return axis == Axis::none ? 1.0 : static_cast<double>(contraction_.extent(axis));
  }

  /// Kernel cycles of all threads.
  void add_work() {
    const bool windows = contraction_.has_rim() && step_.marks.rim == Rim::window;
    const bool is_cut = windows || !contraction_.clips.empty() || !contraction_.phases.empty();
    const double on_image = is_cut ? model_.on_image_ : 1.0;
    double depth = 1.0;
    for (const Axis axis : contraction_.sums) depth *= extent(axis);
    double outputs = 1.0;
    double repeats = 1.0;
    for (const Axis axis : contraction_.outputs) {
      outputs *= extent(axis);
      const bool is_inside =
          axis == contraction_.columns || axis == contraction_.line || axis == contraction_.row;
      if (!is_inside) repeats *= extent(axis);
    }
    result_.executed_flops = 2.0 * outputs * depth * on_image;
    const double entries =
        depth / std::clamp<double>(extent(contraction_.depth), 1.0, step_.sums[0].depth);
    const double groups = windows ? border_groups() : 0.0;
    const double listed = step_.marks.batch == BatchForm::address ? ratios_.listed_cycles : 0.0;
    const double passes = sizes_.passes;
    for (const Piece& columns : sizes_.columns) {
      for (const Piece& lines : sizes_.lines) {
        for (const Piece& rows : sizes_.rows) {
          const double calls = repeats * columns.count * lines.count * rows.count;
          const Cycles cycles = tiles_of(columns.size, lines.size * rows.size);
          compute_cycles_ += calls * cycles.step * depth * on_image;
          overhead_cycles_ +=
              calls * (passes * (cycles.edge + ratios_.call_cycles +
                                 cycles.tiles * groups * ratios_.window_cycles) +
                       entries * on_image * (cycles.tiles * ratios_.entry_cycles + listed));
          result_.calls += calls * passes;
        }
      }
    }
  }

  /// Of one call.
  struct Cycles {
    double step = 0.0;  ///< of one step of the sum, over all tiles
    double edge = 0.0;  ///< of starting and finishing all tiles once
    double tiles = 0.0;
  };

  Cycles tiles_of(double call_columns, double call_rows) const {
    Cycles cycles;
    Pieces wide;
    wide.push_back({call_columns, 1.0});
    for (const Piece& columns : cut(wide, reuse_.tile().cols)) {
      const double vectors = parts(columns.size, model_.vector_);
      const double tiles = parts(call_rows, reuse_.tile().rows) * columns.count;
      const double rows = call_rows * columns.count / tiles;  // dealt evenly
      const double loads = rows + (step_.marks.ahead > 0 ? 2.0 : 1.0) * vectors;
      const double step =
          std::max({rows * vectors / model_.multiply_adds_per_cycle_,
                    loads / ratios_.loads_per_cycle, ratios_.multiply_add_latency}) +
          loads * ratios_.load_cycles;
      const double stores = rows * vectors / ratios_.stores_per_cycle;
      cycles.step += tiles * step;
      cycles.edge += tiles * (ratios_.tile_cycles + stores * (sizes_.passes > 1.0 ? 2.0 : 1.0));
      cycles.tiles += tiles;
    }
    return cycles;
  }

  /// More window groups than one that a call has on average.
  double border_groups() const {
    if (contraction_.borders.size() < 2) return 0.0;
    const Border& across = contraction_.borders[1];
    double calls = 0.0;
    for (const Piece& piece : sizes_.rows) calls += piece.count;
    return (extent(across.tap) - 1.0) * std::min(1.0, 2.0 / std::max(1.0, calls));
  }

  void add_copies() {
    const bool transposes_first =
        contraction_.b_is_transposed && !packs_weights(step_) && !transposed_once_;
    const double weights = transposes_first ? 2.0 * weight_bytes() : 0.0;  // out and in again
    const double lines =
        reuse_.packed_bytes() / kLine + private_bytes() / kLine / model_.conditions_.threads +
        weights / kLine * result_.imbalance / model_.conditions_.threads;  // of one thread
    overhead_cycles_ +=
        lines * ratios_.copied_line_cycles * model_.conditions_.threads / result_.imbalance;
  }

  /// Private results that are added to C at the end.
  double private_bytes() const {
    for (const Element& element : step_.elements) {
      const Loop& loop = element.loop;
      if (!loop.private_sum) continue;
      double bytes = 4.0;
      for (const Axis axis : contraction_.outputs) bytes *= extent(axis);
      return bytes * ((loop.ways == 0 ? model_.conditions_.threads : loop.ways) - 1);
    }
    return 0.0;
  }

  double weight_bytes() const {
    return 4.0 * extent(contraction_.depth) * extent(contraction_.columns) *
           static_cast<double>(contraction_.filter_down * contraction_.filter_across);
  }

  /// What the slowest thread moves across the border of cache 0, 1 or 2 (L1, L2, L3). Warm
  /// operands that fit the cache stay there from run to run.
  OperandBytes moved(std::size_t cache) const {
    const OperandBytes all = reuse_.moved(model_.usable_bytes_[cache]);
    if (model_.conditions_.cache != CacheState::warm) return all;
    return all.times(cache == 2 ? miss_share(model_.total_bytes_, model_.l3_bytes_)
                                : miss_share(reuse_.whole().all(), model_.usable_bytes_[cache]));
  }

  /// The prefetch for the next call reaches its goal if two calls' rows of A and one panel of B
  /// fit L2.
  bool fetches() const {
    const OperandBytes call = reuse_.call();
    return step_.marks.next != Axis::none && 2.0 * call.a + call.b <= model_.usable_bytes_[1];
  }

  void add_traffic() {
    const double threads = model_.conditions_.threads;
    const Limits& limits = model_.limits_;
    const OperandBytes l2 = moved(0);
    const OperandBytes l3 = moved(1);
    OperandBytes dram = moved(2);
    const double beyond_l3 = miss_share(model_.total_bytes_, model_.l3_bytes_);
    const double streamed = step_.marks.stream ? reuse_.whole().c : 0.0;
    result_.l2_bytes = l2.times(threads);
    result_.l3_bytes = l3.times(threads);
    result_.dram_bytes = dram.times(threads);
    result_.dram_bytes.c += streamed * threads;

    const bool fetched = fetches();
    const bool adds = sizes_.passes > 1.0;
    const double a_l2 = step_.marks.next == Axis::none ? ratios_.a_l2 : ratios_.a_fetched_l2;
    result_.l2 = time_of(l2.a * a_l2 + l2.b * ratios_.b_l2 + (adds ? l2.c * ratios_.c_l2 : 0.0),
                         limits.l2_bandwidth) +
                 late_lines(l2);
    result_.l3 = time_of(l3.a * (fetched ? 0.0 : ratios_.a_l3) + l3.b * ratios_.b_l3 +
                             (adds ? l3.c * ratios_.c_l3 : 0.0),
                         limits.l3_bandwidth);
    result_.dram =
        time_of(threads * (dram.a * (fetched ? ratios_.a_fetched_dram : ratios_.a_dram) +
                           dram.b * ratios_.b_dram + streamed * beyond_l3 * ratios_.streamed_dram),
                limits.dram_bandwidth);
    transfer_seconds_ =
        std::max({time_of(l2.all(), limits.l2_bandwidth), time_of(l3.all(), limits.l3_bandwidth),
                  time_of(result_.dram_bytes.all(), limits.dram_bandwidth)});
  }

  /// L2 delivers so many lines beside the work; those above are waited for.
  double late_lines(const OperandBytes& l2) const {
    const double cycles = compute_cycles_ * result_.imbalance / model_.conditions_.threads;
    const double late = (l2.a + l2.b) / kLine - ratios_.l2_lines_per_cycle * cycles;
    return std::max(0.0, late) * ratios_.late_line_cycles / model_.limits_.clock_hz;
  }

  void add_up() {
    const double threads = model_.conditions_.threads;
    const double slowest = result_.imbalance / (threads * model_.limits_.clock_hz);
    result_.compute = compute_cycles_ * slowest;
    result_.overhead =
        overhead_cycles_ * slowest + (threads > 1.0 ? model_.limits_.fork_seconds : 0.0);
    result_.seconds =
        std::max(result_.compute + result_.overhead + result_.l2 + result_.l3 + result_.dram,
                 transfer_seconds_);
  }

  const Model& model_;
  bool transposed_once_ = false;
  const ModelRatios& ratios_;
  const Contraction& contraction_;
  const Step& step_;
  Shares shares_;
  Reuse reuse_;
  CallSizes sizes_;
  Prediction result_;
  double compute_cycles_ = 0.0;
  double overhead_cycles_ = 0.0;
  double transfer_seconds_ = 0.0;  ///< of the level that takes longest
};

Model::Model(const Problem& problem, const Conditions& conditions, const Machine& machine,
             const Limits& limits, const ModelRatios& ratios)
    : Model(contraction_or_throw(problem), static_cast<double>(total_bytes(problem)), conditions,
            machine, limits, ratios) {}

Model::Model(const Contraction& contraction, double bytes, const Conditions& conditions,
             const Machine& machine, const Limits& limits, const ModelRatios& ratios)
    : contraction_(contraction),
      footprints_(contraction_),
      conditions_(conditions),
      limits_(limits),
      ratios_(ratios) {
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
  total_bytes_ = bytes;
  double pairs = static_cast<double>(std::max<std::size_t>(1, contraction_.phases.size()));
  for (const auto* borders : {&contraction_.borders, &contraction_.clips}) {
    for (const Border& border : *borders) {
      pairs *=
          static_cast<double>(contraction_.extent(border.out) * contraction_.extent(border.tap));
    }
  }
  on_image_ = contraction_.pairs_on_image() / pairs;
}

Prediction Model::predict(const Schedule& schedule) const {
  for (const Step& step : schedule.steps) {
    if (step.body == Body::call) return ModelRun(*this, step, transposes_once(schedule)).all();
  }
  return {};
}

}  // namespace loopbrick
