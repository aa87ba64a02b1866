#pragma once
#include <cstdint>

namespace loopbrick {

/// C = A * B, or C += A * B, all row-major float32: A is [m][k], B is [k][n], C is [m][n].
///
/// Needs  every size and stride fits into an int, which is what the libraries behind it count with.
struct MatrixProduct {
  std::int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  std::int64_t lda = 0;
  bool a_transposed = false;  ///< A lies as [k][m]
  const float* b = nullptr;
  std::int64_t ldb = 0;
  bool b_transposed = false;  ///< B lies as [n][k]
  float* c = nullptr;
  std::int64_t ldc = 0;
  bool accumulate = false;  ///< false: C is overwritten and never read
};

/// A library's way to compute one with `threads` threads.
using Multiply = void (*)(const MatrixProduct& product, int threads);

}  // namespace loopbrick
