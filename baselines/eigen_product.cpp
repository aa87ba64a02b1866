#include "baselines/eigen_product.h"

#include <Eigen/Core>

namespace loopbrick {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Strided = Eigen::Map<Matrix, Eigen::Unaligned, Eigen::OuterStride<>>;
using ConstStrided = Eigen::Map<const Matrix, Eigen::Unaligned, Eigen::OuterStride<>>;

}  // namespace

void eigen_product(const MatrixProduct& p, int threads) {
  Eigen::setNbThreads(threads);
  const ConstStrided a(p.a, p.m, p.k, Eigen::OuterStride<>(p.lda));
  const ConstStrided b(p.b, p.k, p.n, Eigen::OuterStride<>(p.ldb));
  Strided c(p.c, p.m, p.n, Eigen::OuterStride<>(p.ldc));
  if (p.accumulate) {
    c.noalias() += a * b;
  } else {
    c.noalias() = a * b;
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
