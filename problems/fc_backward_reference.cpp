#include "problems/fc_backward_reference.h"

#include <algorithm>

#include "problems/reference_tile.h"

namespace loopbrick {
namespace {

/// The gradient of a layer's sums, before they went through the activation.
class SumGradient {
 public:
  SumGradient(const Problem& problem, const float* dy, const float* kept)
      : activation_(problem.activation), dy_(dy), kept_(kept) {}

  double operator[](std::int64_t i) const {
    const auto gradient = static_cast<double>(dy_[i]);
    if (activation_ == Activation::none) return gradient;
    return gradient * slope(activation_, static_cast<double>(kept_[i]));
  }

 private:
  Activation activation_;
  const float* dy_;
  const float* kept_;
};

void by_data(const Fc& fc, const SumGradient& dz, const float* w, float* dx, int threads) {
  const auto gather = [&](std::int64_t, std::int64_t row, std::int64_t first, std::int64_t count,
                          double* piece) {
    for (std::int64_t d = 0; d < count; ++d, piece += kTileRows) {
      for (std::int64_t i = 0; i < std::min(kTileRows, fc.n - row); ++i)
        piece[i] = dz[(row + i) * fc.k + first + d];
    }
  };
  const auto store = [&](std::int64_t, std::int64_t row, std::int64_t col, double sum) {
    dx[row * fc.c + col] = static_cast<float>(sum);
  };
  run({.rows = fc.n,
       .cols = fc.c,
       .depth = fc.k,
       .b = w,
       .b_depth_stride = fc.c,
       .b_col_stride = 1,
       .a = gather,
       .store = store},
      threads);
}

void by_weights(const Fc& fc, const SumGradient& dz, const float* x, float* dw, int threads) {
  const auto gather = [&](std::int64_t, std::int64_t row, std::int64_t first, std::int64_t count,
                          double* piece) {
    for (std::int64_t d = 0; d < count; ++d, piece += kTileRows) {
      for (std::int64_t i = 0; i < std::min(kTileRows, fc.k - row); ++i)
        piece[i] = dz[(first + d) * fc.k + row + i];
    }
  };
  const auto store = [&](std::int64_t, std::int64_t row, std::int64_t col, double sum) {
    dw[row * fc.c + col] = static_cast<float>(sum);
  };
  run({.rows = fc.k,
       .cols = fc.c,
       .depth = fc.n,
       .b = x,
       .b_depth_stride = fc.c,
       .b_col_stride = 1,
       .a = gather,
       .store = store},
      threads);
}

void by_bias(const Fc& fc, const SumGradient& dz, float* db) {
  for (std::int64_t k = 0; k < fc.k; ++k) {
    double sum = 0.0;
    for (std::int64_t n = 0; n < fc.n; ++n) sum += dz[n * fc.k + k];
    db[k] = static_cast<float>(sum);
  }
}

}  // namespace

void fc_backward_reference(const Problem& problem, const Arrays& arrays, int threads) {
  const Fc& fc = std::get<Fc>(problem.shape);
  const std::size_t kept = problem.activation == Activation::none ? 0 : 1;
  const bool is_by_data = problem.pass == Pass::bwd_d;
  const SumGradient dz(problem, arrays[is_by_data ? 0 : 1].data(), arrays[2].data());
  float* const gradient = arrays[2 + kept].data();
  if (is_by_data) return by_data(fc, dz, arrays[1].data(), gradient, threads);
  by_weights(fc, dz, arrays[0].data(), gradient, threads);
  if (problem.bias) by_bias(fc, dz, arrays[3 + kept].data());
}

}  // namespace loopbrick
