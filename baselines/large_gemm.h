#pragma once
#include <string>
#include <string_view>
#include <variant>

#include "baselines/matrix_product.h"
#include "problems/implementation.h"

namespace loopbrick {

/// Runs a problem with a library's large matrix product: a gemm and the three passes of a fully
/// connected layer as they stand, those of a convolution by im2col, an lstm
/// forward with an element-wise pass after each product.
///
/// Bias and activation are one more pass over y. Runnable::implementation and flag are left empty.
/// Needs   why_no_baseline found no reason against the problem.
/// Source  im2col is what arXiv:1906.06440 compares with as the usual way to use a large GEMM.
std::variant<Runnable, Refusal> prepare_with_large_gemm(const Problem& problem,
                                                        const Conditions& conditions,
                                                        Multiply multiply);

}  // namespace loopbrick
