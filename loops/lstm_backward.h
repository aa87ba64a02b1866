#pragma once
#include <cstdint>
#include <vector>

#include "loops/lstm_calls.h"
#include "loops/lstm_cell.h"
#include "loops/lstm_steps.h"
#include "loops/part_times.h"
#include "loops/transposed_weights.h"

namespace loopbrick {

/// The backward pass of an LSTM by a schedule: gradients of inputs and weights.
///
/// Weights come as the forward pass with tiles of one block of k has them; a run transposes them
/// first. Then, from the last time step to the first, the element-wise part makes dz and one
/// product dh of the step before; dx, dw and dr follow each step or, for all steps at once, the
/// last; db is summed with dz.
///
/// Needs    why_not has nothing against the schedule.
/// Threads  run starts `conditions.threads` OpenMP threads.
class LstmBackward {
 public:
  LstmBackward(const Lstm& lstm, const LstmSteps& steps, const Conditions& conditions,
               KernelCache& kernels);

  struct Operands {
    const float *x, *w, *r, *dh, *dc;
    const float* gates;  ///< of all steps, as lstm_gate_access has them
    const float *h, *c;  ///< states before the first step and behind each of them, [t + 1] of them
    float *dx, *dh0, *dc0, *dw, *dr, *db;
  };
  /// `workspace` has workspace_floats() floats, `scratch` threads times scratch_addresses().
  void run(const Operands& operands, float* workspace, BatchAddress* scratch,
           PartTimes* times = nullptr) const noexcept;

  std::int64_t workspace_floats() const;
  std::int64_t scratch_addresses() const;
  std::vector<const CallTable*> tables() const;
  std::int64_t barriers() const { return 2 * lstm_.t + 1; }  ///< of one run

 private:
  /// One of the weight tensors, its four gates one behind the other.
  struct Transposed {
    Transposed(const Contraction& user, const Step& step);
    TransposedWeights gate;
    std::int64_t panels() const;  ///< of all gates
    std::int64_t elements() const;
    Contraction used_by(Contraction to) const;
    void run(std::int64_t panel, const float* forward, float* own) const noexcept;
  };
  struct Workspace {
    float *dz, *dh_later, *w, *r, *db;
  };
  std::int64_t steps_of_dz() const { return in_time_ ? 1 : lstm_.t; }
  Workspace divide(float* workspace) const;
  void gradients(int number, std::int64_t t, bool adds, const Operands& operands,
                 const Workspace& own, BatchAddress* scratch, PartTimes* times) const noexcept;
  void transpose(int number, const Operands& operands, const Workspace& own) const noexcept;
  void elementwise(int number, std::int64_t t, const Operands& operands,
                   const Workspace& own) const noexcept;
  void add_bias_gradients(int number, const Workspace& own, float* db) const noexcept;

  Lstm lstm_;
  bool in_time_;  ///< dx, dw and dr follow every time step, which leaves one dz to keep
  int threads_;
  LstmCell cell_;
  Access gates_;
  Access states_;
  Transposed w_, r_;
  Rounds elementwise_;
  LstmCalls dh_, dx_, dw_, dr_;
};

}  // namespace loopbrick
