#pragma once
#include "baselines/matrix_product.h"
#include "problems/implementation.h"

namespace loopbrick {

/// A pass of a fully connected layer as one matrix product on the plain row-major operands:
/// y = x w^T, dx = dy w, dw = dy^T x. The library does what the transposition takes, and it is
/// timed.
///
/// Bias and activation are one more pass over y, backward passes over dy before the product.
/// Runnable::implementation and flag are left empty. Needs   n, c and k fit into an int;
/// why_no_baseline found no reason against the problem. Errors  throws std::bad_alloc.
Runnable large_fc(const Problem& problem, const Conditions& conditions, Multiply multiply);

}  // namespace loopbrick
