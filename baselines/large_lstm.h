#pragma once
#include "baselines/matrix_product.h"
#include "problems/implementation.h"

namespace loopbrick {

/// The forward passes of an LSTM layer by large matrix products: one for the inputs of all steps,
/// one a step for the hidden state, and an element-wise pass over what they leave in memory.
/// Runnable::implementation and flag are left empty.
///
/// Needs   t n, 4 k and c fit into an int.
/// Errors  throws std::bad_alloc.
/// Source  the usual way to use a large GEMM that arXiv:1906.06440 compares with.
Runnable large_lstm(const Problem& problem, const Conditions& conditions, Multiply multiply);

}  // namespace loopbrick
