#pragma once
#include <cstdint>

#include "baselines/matrix_product.h"
#include "problems/implementation.h"

namespace loopbrick {

/// Images of a convolution that share one im2col buffer.
std::int64_t images_at_once(const Conv& conv);

/// A pass of a convolution by im2col: y = columns w; columns = dy w^T, added up to dx by col2im;
/// dw = columns^T dy. Activations lie channels-last, weights as [R][S][C][K], and one product
/// covers images_at_once images. A dense 1x1 is its own im2col matrix and needs no buffer.
///
/// Bias and activation are one more pass over y. Runnable::implementation and flag are left empty.
/// Needs   one group, sizes of the matrices that fit into an int; why_no_baseline found no reason
///         against the problem.
/// Errors  throws std::bad_alloc.
Runnable column_conv(const Problem& problem, const Conditions& conditions, Multiply multiply);

}  // namespace loopbrick
