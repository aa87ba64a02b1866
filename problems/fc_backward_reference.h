#pragma once
#include "problems/operands.h"
#include "problems/problem.h"

namespace loopbrick {

/// The gradients of a fully connected layer in double, rounded once; arrays as operands() lists
/// them. With dz[n][k] = dy[n][k] f'(.), f the activation (none: 1):
///
/// by data     dx[n][c] sums dz[n][k] w[k][c] over k
/// by weights  dw[k][c] sums dz[n][k] x[n][c] over n, and db[k] sums dz[n][k] over n
///
/// Threads  `threads` OpenMP threads; the order of every sum is the same for any number.
void fc_backward_reference(const Problem& problem, const Arrays& arrays, int threads);

}  // namespace loopbrick
