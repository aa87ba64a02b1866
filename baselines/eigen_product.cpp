#include "baselines/eigen_product.h"

#include <Eigen/Core>

namespace loopbrick {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Strided = Eigen::Map<Matrix, Eigen::Unaligned, Eigen::OuterStride<>>;
using ConstStrided = Eigen::Map<const Matrix, Eigen::Unaligned, Eigen::OuterStride<>>;

ConstStrided matrix(const float* data, std::int64_t rows, std::int64_t columns, bool transposed,
                    std::int64_t ld) {
  return {data, transposed ? columns : rows, transposed ? rows : columns, Eigen::OuterStride<>(ld)};
}

/// Each pair of expressions is a product of its own, which Eigen chooses when it is compiled.
template <typename A, typename B>
void multiply(const MatrixProduct& p, const A& a, const B& b) {
  Strided c(p.c, p.m, p.n, Eigen::OuterStride<>(p.ldc));
  if (p.accumulate) {
    c.noalias() += a * b;
  } else {
    c.noalias() = a * b;
  }
}

template <typename A>
void multiply_by_b(const MatrixProduct& p, const A& a) {
  const ConstStrided b = matrix(p.b, p.k, p.n, p.b_transposed, p.ldb);
  if (p.b_transposed) {
    multiply(p, a, b.transpose());
  } else {
    multiply(p, a, b);
  }
}

}  // namespace

void eigen_product(const MatrixProduct& p, int threads) {
  Eigen::setNbThreads(threads);
  const ConstStrided a = matrix(p.a, p.m, p.k, p.a_transposed, p.lda);
  if (p.a_transposed) {
    multiply_by_b(p, a.transpose());
  } else {
    multiply_by_b(p, a);
  }
}

EigenBuild eigen_build() {
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
  constexpr Isa kIsa = Isa::avx512;
#elif defined(__AVX2__) && defined(__FMA__)
  constexpr Isa kIsa = Isa::avx2;
#else
  constexpr Isa kIsa = Isa::ref;
#endif
  return {kIsa, EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION};
}

}  // namespace loopbrick
