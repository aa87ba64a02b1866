#pragma once
#include <string_view>

#include "problems/operands.h"
#include "problems/problem.h"

namespace loopbrick {

/// An LSTM layer in double. For each step t, gates in the order i, c, f, o, which is also that of
/// the weights w[4][k][c] and r[4][k][k] and of the bias b[4][k]:
///
///   i = sigmoid(W_i x_t + R_i h_{t-1} + b_i)      c_t = f * c_{t-1} + i * g
///   g = tanh   (W_c x_t + R_c h_{t-1} + b_c)      h_t = o * tanh(c_t)
///   f = sigmoid(W_f x_t + R_f h_{t-1} + b_f)
///   o = sigmoid(W_o x_t + R_o h_{t-1} + b_o)
///
/// fwd and train give h and c of all steps. bwd takes the gradients dh of all h_t and dc of the
/// last c_t, and gives those of x, h_0, c_0, w, r and b; it computes the forward pass again. A bias
/// of the forget gate is part of b.
///
/// Shapes   as operands(problem) lists them. Threads  `threads` OpenMP threads; the order of every
/// sum is the same for any number. The states that stand as B in a product (h in dr) are rounded to
/// float first, as every implementation stores them.
/// Source   Hochreiter and Schmidhuber 1997 with forget gates (Gers et al. 2000, without
/// peepholes).
void lstm_reference(const Problem& problem, const Arrays& arrays, int threads);

/// The power of two by which fill scales w and r, so that gates do not saturate: sums of D = c + k
/// products have a standard deviation below that of one product; for ones the sum is at most 1.
float lstm_weight_scale(const Lstm& lstm, Fill kind);

/// The largest |got - want| that rounding explains in one output.
///
/// A sum of D products of variance v wanders to sqrt(D v), and float32 adds roundings of about D
/// sqrt(v) 2^-24 / 3 to it. Scaled weights (v = 1/(9 D), of integers 4/D) make that sqrt(D) 2^-24
/// for gates, h and c; the element-wise functions add some 2^-22, and gates below 1 keep old errors
/// from growing over the steps. So it is (4 sqrt(D) + 64) 2^-24 for h, c, dx, dh0 and dc0, with D =
/// c + k or 4 k. dw, dr and db sum t n products without a scale, whose errors grow with those of
/// the gates: (t n (1 + sqrt(k) / 16) + 64) 2^-24. Integers, twice as large and nearer to
/// saturation, are allowed 4 times as much. The largest seen at t = 50, n = 168, c = k = 512 was a
/// sixth of that. A product that is missing changes a gate by 1 / (4 sqrt(D)), a weight gradient by
/// about 1/20: 10 to 1000 times as much. Equal addends, as ones make them, round the same way each
/// time: D for sums that end near 1, D^2 / 4 for weights.
double lstm_tolerance(const Problem& problem, Fill kind, std::string_view output);

}  // namespace loopbrick
