#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "loops/lstm_calls.h"
#include "loops/lstm_cell.h"
#include "loops/lstm_steps.h"
#include "loops/part_times.h"
#include "loops/weights.h"

namespace loopbrick {

/// How the plan lays out one of w[4][k][depth] and r: a WeightLayout for each gate, one behind the
/// other.
struct LstmWeights {
  WeightLayout gate;

  std::int64_t elements() const;
  Access access(Axis depth) const;
};

/// The forward pass of an LSTM by a schedule, fused or with all products with x first.
///
/// Needs    why_not has nothing against the schedule.
/// Threads  run starts `conditions.threads` OpenMP threads.
class LstmForward {
 public:
  /// With `keeps_gates` the gates of all steps stay behind in `gates`.
  LstmForward(const Lstm& lstm, const LstmSteps& steps, bool keeps_gates,
              const Conditions& conditions, KernelCache& kernels);

  struct Operands {
    const float *x, *h0, *c0, *w, *r, *b;
    float *h, *c;
  };
  /// `gates` has gate_elements() elements, as lstm_gate_access has them; `scratch` threads times
  /// scratch_addresses().
  void run(const Operands& operands, float* gates, BatchAddress* scratch,
           PartTimes* times = nullptr) const noexcept;

  const LstmWeights& w() const { return w_; }
  const LstmWeights& r() const { return r_; }
  std::int64_t gate_elements() const;
  std::int64_t scratch_addresses() const;
  std::vector<const CallTable*> tables() const;
  std::int64_t barriers() const { return lstm_.t + (is_fused_ ? 1 : 2); }  ///< of one run

 private:
  void cell(int number, std::int64_t t, const Operands& operands, float* gates,
            BatchAddress* scratch, PartTimes* times) const noexcept;

  Lstm lstm_;
  bool is_fused_, keeps_gates_;
  int threads_;
  LstmWeights w_, r_;
  LstmCell cell_;
  Access gates_;
  Access states_;
  LstmCalls inputs_;  ///< of all steps, or of one if the schedule is fused
  LstmCalls state_;
};

}  // namespace loopbrick
