#pragma once
#include "baselines/onednn_execution.h"
#include "problems/problem.h"

namespace loopbrick {

// One function a kind of problem, each in the file of its name. `activations` is any where oneDNN
// picks all layouts, nhwc where it picks that of the weights only.
//
// Errors  throw dnnl::error where oneDNN has no such primitive.

/// The three passes of a convolution.
Recipe onednn_conv(const dnnl::engine& engine, const Problem& problem, Tag activations);

/// The three passes of an inner product; nhwc stands for row-major operands. Behind an activation
/// its backward passes read dz where they read dy otherwise: no port fills it.
Recipe onednn_fc(const dnnl::engine& engine, const Problem& problem, Tag activations);

/// A matmul. A batch is one product whose depth is the batch's, the entries of A side by side.
Recipe onednn_gemm(const dnnl::engine& engine, const Problem& problem);

}  // namespace loopbrick
