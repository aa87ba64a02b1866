#pragma once
#include <optional>
#include <variant>

#include "loops/contraction.h"
#include "loops/schedule.h"
#include "problems/conditions.h"
#include "problems/problem.h"
#include "problems/refusal.h"

namespace loopbrick {

/// The matrix products of an LSTM, all with gates g = 0..3 in the order i, c, f, o.
///
/// inputs  z[t][n][g][k] = sum over c of x w         dh  dh[n][h] = sum over k, g of dz r
/// input   the same of one time step                 dx  dx[t][n][c] = sum over k, g of dz w
/// state   z[n][g][k] = sum over h of h r            dw  dw[g][c][k] = sum over n, t of x dz
///                                                   dr  dr[g][h][k] = sum over n, t of h dz
enum class LstmProduct { inputs, input, state, dh, dx, dw, dr };

/// Sums z, gates and dz lie as [t][k / block][4][n][block], the block of k that of an activation;
/// x, h and c as [t][features / block][n][block]; w and r (b of inputs, input, state, dh and dx)
/// are left open: it is the schedule that lays them out. dw and dr lie as [4][k / block][c][block].
Contraction lstm_contraction(const Lstm& lstm, LstmProduct product);

/// The offsets of sums and gates as described above.
Access lstm_gate_access(const Lstm& lstm);

/// The offsets of x (feature c), and of h, c and their gradients (feature k or h).
Access lstm_state_access(const Lstm& lstm, Axis feature);

/// All axes with their extents, of no product in particular.
Contraction lstm_axes(const Lstm& lstm);

/// The steps of a schedule by what they do: those of the pass are set, all others empty.
struct LstmSteps {
  std::optional<Step> inputs;  ///< forward: all products with x before the first time step
  std::optional<Step> cell;    ///< forward, in every time step: the other products, then the cell
  std::optional<Step> elementwise, dh;  ///< backward, in every time step
  std::optional<Step> dx, dw, dr;       ///< backward, behind the last time step or in every one
  bool gradients_in_time = false;

  bool is_fused() const { return cell && !inputs; }
};

/// The layer that dx, dw and dr are products of: all time steps, or one of them.
Lstm lstm_of_gradients(const Lstm& lstm, const LstmSteps& steps);

/// Errors   a Refusal says which step is missing, stands in the wrong place or lacks its barrier.
std::variant<LstmSteps, Refusal> lstm_steps(Pass pass, const Schedule& schedule);

/// `step` with the one sum over `axis` of those that it has.
Step with_sum(const Step& step, Axis axis);

/// Why this schedule cannot run this LSTM, or nothing if it can.
std::optional<Refusal> why_not_lstm(const Problem& problem, const Schedule& schedule,
                                    const Conditions& conditions);

}  // namespace loopbrick
