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
  double l2_bytes = 0.0;
  double l3_bytes = 0.0;
  double dram_bytes = 0.0;
  double calls = 0.0;
  double executed_flops = 0.0;  ///< padding that windows leave out is not in it
};

/// Ratios of the microarchitecture and of how well it overlaps; everything else is measured
/// (Limits). Cycles are of the core's clock; a line has 64 bytes.
///
/// Source  fitted to 3,901 schedules of the 20 ResNet-50 layers, measured in rounds on a Zen 5:
/// docs/model.md.
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

  // Lost to each line that comes from a level. Rows of A lie apart, which no prefetcher follows; B
  // is read in order.
  double a_line_l2 = 1.3;
  double a_line_l3 = 1.7;
  double b_line_l2 = 0.1;
  double b_line_l3 = 3.2;
  double fetched_line = 1.3;     ///< next=: the prefetch of one line of A, which hides a_line_l3
  double exposed_dram = 0.70;    ///< share of the transfers' time that compute can't hide
  double exposed_fetched = 0.4;  ///< of that, where next= prefetches
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
  double on_image_ = 1.0;  ///< multiply-adds that are left when padding is left out, as a share
};

}  // namespace loopbrick
