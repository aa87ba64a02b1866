#pragma once
#include <array>

#include "kernels/few.h"
#include "loops/contraction.h"
#include "loops/schedule.h"
#include "measure/machine.h"
#include "problems/conditions.h"
#include "problems/problem.h"

namespace loopbrick {

/// What the model thinks a schedule costs, and why.
///
/// Units  seconds of one run, bytes and calls of one run over all threads.
struct Prediction {
  double seconds = 0.0;
  double compute = 0.0;   ///< multiply-adds at the rate of the register tile, on the slowest thread
  double l2 = 0.0;        ///< moving bytes between L1 and L2
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
/// (Limits). Cycles are of the core's clock.
struct ModelRatios {
  double loads_per_cycle = 2.0;       ///< full vectors or broadcasts from L1
  double multiply_add_latency = 4.0;  ///< cycles: Zen 4, Zen 5, Skylake and later
  double stores_per_cycle = 0.5;      ///< full vectors
  double load_cycles = 0.04;          ///< lost to each load: bank conflicts, lines being filled
  double call_cycles = 150.0;         ///< argument block, entry, exit, first misses on B
  double listed_cycles = 2.5;         ///< writing one address of batch=address
  double tile_cycles = 40.0;          ///< pipeline fill and drain of one register tile
  double entry_cycles = 2.0;          ///< batch entry: two pointers, a loop
  double window_cycles = 8.0;         ///< one more group of entries in a register tile
  double copied_line_cycles = 3.0;    ///< packing one 64-byte line
  double usable_cache = 0.75;         ///< of a level before its data starts to fall out
  double exposed_l2 = 0.15;           ///< share of a level's transfer time that compute can't hide
  double exposed_l3 = 0.60;
  double exposed_dram = 0.70;
  double exposed_next = 0.40;  ///< of those two where the next pixels are prefetched
};

/// An analytic cost model: executed multiply-adds, register-tile efficiency, bytes between cache
/// levels by the reuse distance of the nest, balance of the dealt grid, overhead of calls.
///
/// Needs    the schedule is valid for the problem (why_not of loops/plan.h says nothing).
/// Threads  predict may be called at once.
/// Source   reuse by working sets as in kerncraft's layer conditions
/// (doi:10.1007/978-3-319-56702-0_1).
class Model {
 public:
  /// Errors  throws std::invalid_argument when the problem has no contraction.
  Model(const Problem& problem, const Conditions& conditions, const Machine& machine,
        const Limits& limits, const ModelRatios& ratios = {});

  Prediction predict(const Schedule& schedule) const;

 private:
  friend class ModelRun;
  void find_operand_axes();

  Contraction contraction_;
  Conditions conditions_;
  Limits limits_;
  ModelRatios ratios_;
  Few<int, 6> a_axes_, b_axes_,
      c_axes_;           ///< that an operand's size depends on; not those at a border
  double vector_ = 1.0;  ///< elements
  double multiply_adds_per_cycle_ = 2.0;  ///< vectors, on one core
  std::array<double, 3> usable_bytes_{};  ///< of L1, L2 and L3 for one thread
  double total_bytes_ = 0.0;
  double l3_bytes_ = 0.0;
  double on_image_ = 1.0;  ///< multiply-adds that are left when padding is left out, as a share
};

}  // namespace loopbrick
