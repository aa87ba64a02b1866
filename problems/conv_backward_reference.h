#pragma once
#include "problems/operands.h"
#include "problems/problem.h"

namespace loopbrick {

/// The gradients of a convolution in double, rounded once; arrays as operands() lists them.
///
/// by data     dy, w -> dx: dx[n][c][h][w] sums dy[n][k][p][q] w[k][c][r][s] over k and over those
///             taps and output pixels with p * stride - pad + r * dilation = h, likewise for w
/// by weights  x, dy -> dw: dw[k][c][r][s] sums x[n][c][h][w] dy[n][k][p][q] over n, p and q
///
/// Threads  `threads` OpenMP threads; the order of every sum is the same for any number.
void conv_backward_data(const Conv& conv, const Arrays& arrays, int threads);
void conv_backward_weights(const Conv& conv, const Arrays& arrays, int threads);

}  // namespace loopbrick
