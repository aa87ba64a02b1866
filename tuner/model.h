#pragma once
#include <array>

#include "loops/contraction.h"
#include "loops/schedule.h"
#include "measure/machine.h"
#include "problems/conditions.h"
#include "problems/problem.h"
#include "tuner/reuse.h"

namespace loopbrick {

/// What the model thinks a schedule costs, and why: the parts add up to `seconds`, unless the
/// transfers of one level alone take longer.
///
/// Units  seconds of one run, bytes and calls of one run over all threads.
struct Prediction {
  double seconds = 0.0;
  double compute = 0.0;   ///< multiply-adds at the rate of the register tile, on the slowest thread
  double l2 = 0.0;        ///< waiting for bytes between L1 and L2 that compute can't hide
  double l3 = 0.0;        ///< between L2 and L3
  double dram = 0.0;      ///< between L3 and memory
  double overhead = 0.0;  ///< calls, batch entries, tile edges, packing, fork
  double imbalance = 1.0;  ///< work of the slowest thread over the mean
  OperandBytes l2_bytes, l3_bytes, dram_bytes;
  double calls = 0.0;
  double executed_flops = 0.0;  ///< padding that windows leave out is not in it
};

/// Ratios of the microarchitecture and of how well it overlaps; everything else is measured
/// (Limits). Cycles are of the core's clock; a line has 64 bytes.
///
/// Source  fitted to 2,862 schedules of the 20 ResNet-50 layers at N = 2 and 845 at N = 16, on a
/// Zen 5: docs/model.md.
struct ModelRatios {
  double loads_per_cycle = 2.0;       ///< full vectors or broadcasts from L1
  double multiply_add_latency = 4.0;  ///< cycles: Zen 4, Zen 5, Skylake and later
  double stores_per_cycle = 1.8;      ///< full vectors
  double load_cycles = 0.064;         ///< lost to each load: bank conflicts, lines being filled
  double call_cycles = 410.0;  ///< argument block, entry, exit, first misses, mispredicted ends
  double listed_cycles = 0.7;  ///< writing one address of batch=address
  double tile_cycles = 11.0;   ///< pipeline fill and drain of one register tile
  double entry_cycles = 0.6;   ///< batch entry: two pointers, a loop
  double window_cycles = 2.3;  ///< one more group of entries in a register tile
  double copied_line_cycles = 3.0;
  double usable_cache = 0.9;  ///< of a level before its data starts to fall out

  /// Cycles lost to each line from L2 beyond `l2_lines_per_cycle` of compute.
  double l2_lines_per_cycle = 0.35;
  double late_line_cycles = 0.8;

  // Time lost to the transfers of one operand, over the time they take at the level's bandwidth:
  // above 1 where single misses are waited for. Rows of A lie apart, which no prefetcher follows; B
  // is read in order; a tile of C is waited for where a call adds to it.
  double a_l2 = 1.2, b_l2 = 0.1, c_l2 = 6.0;
  double a_l3 = 0.65, b_l3 = 1.2, c_l3 = 6.0;
  double a_dram = 3.0, b_dram = 2.0;

  // next= prefetches A of the next call, if it has room in L2 beside that of this one: nothing is
  // lost to L3 then, but each line crosses into L1 twice.
  double a_fetched_l2 = 2.4;
  double a_fetched_dram = 0.6;

  double streamed_dram = 0.6;  ///< store=stream, where the operands exceed the last cache
};

/// An analytic cost model: executed multiply-adds, register-tile efficiency, bytes between cache
/// levels by the reuse of the nest, balance of the dealt grid, overhead of calls.
///
/// Needs    the schedule is valid for the problem (why_not of loops/plan.h says nothing).
/// Threads  predict may be called at once.
class Model {
 public:
  /// Errors  throws std::invalid_argument when the problem has no contraction.
  Model(const Problem& problem, const Conditions& conditions, const Machine& machine,
        const Limits& limits, const ModelRatios& ratios = {});

  /// The same for one product of a problem whose operands take `bytes`.
  Model(const Contraction& contraction, double bytes, const Conditions& conditions,
        const Machine& machine, const Limits& limits, const ModelRatios& ratios = {});

  Prediction predict(const Schedule& schedule) const;

 private:
  friend class ModelRun;

  Contraction contraction_;
  Footprints footprints_;
  Conditions conditions_;
  Limits limits_;
  ModelRatios ratios_;
  double vector_ = 1.0;                   ///< elements
  double multiply_adds_per_cycle_ = 2.0;  ///< vectors, on one core
  std::array<double, 3> usable_bytes_{};  ///< of L1, L2 and L3 for one thread
  double total_bytes_ = 0.0;
  double l3_bytes_ = 0.0;
  double on_image_ = 1.0;  ///< multiply-adds that are left without padding, as a share of all
                           ///< pairs of pixel and tap in phases of the largest size
};

}  // namespace loopbrick
