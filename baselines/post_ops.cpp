#include "baselines/post_ops.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <omp.h>

#include "baselines/applicable.h"

namespace loopbrick {

namespace {

constexpr float kGeluSlope = 0.797884561F;  // sqrt(2 / pi)

float (*function_of(Activation activation))(float) {
  switch (activation) {
    case Activation::relu:
      return [](float x) { return std::max(x, 0.0F); };
    case Activation::sigmoid:
      return [](float x) { return 1.0F / (1.0F + std::exp(-x)); };
    case Activation::tanh:
      return [](float x) { return std::tanh(x); };
    case Activation::gelu_erf:
      return [](float x) { return 0.5F * x * (1.0F + std::erf(x / std::numbers::sqrt2_v<float>)); };
    case Activation::gelu_tanh:
      return [](float x) {
        const float u = kGeluSlope * x * (1.0F + 0.044715F * x * x);
        return 0.5F * x * (1.0F + std::tanh(u));
      };
    case Activation::none:
      break;
  }
  return [](float x) { return x; };
}

/// By what a backward pass keeps.
float (*slope_of(Activation activation))(float) {
  switch (activation) {
    case Activation::relu:
      return [](float y) { return y > 0.0F ? 1.0F : 0.0F; };
    case Activation::sigmoid:
      return [](float y) { return y * (1.0F - y); };
    case Activation::tanh:
      return [](float y) { return 1.0F - y * y; };
    case Activation::gelu_erf:
      return [](float z) { return static_cast<float>(slope(Activation::gelu_erf, z)); };
    case Activation::gelu_tanh:
      return [](float z) { return static_cast<float>(slope(Activation::gelu_tanh, z)); };
    case Activation::none:
      break;
  }
  return [](float) { return 1.0F; };
}

/// Threads share the columns, each sums them row by row.
void sum_rows(const OutputRows& shape, const float* dz, float* db, int threads) {
#pragma omp parallel num_threads(threads)
  {
    const std::int64_t first = shape.features * omp_get_thread_num() / omp_get_num_threads();
    const std::int64_t end = shape.features * (omp_get_thread_num() + 1) / omp_get_num_threads();
    std::fill(db + first, db + end, 0.0F);
    for (std::int64_t i = 0; i < shape.rows; ++i) {
      const float* const row = dz + i * shape.features;
      for (std::int64_t k = first; k < end; ++k) db[k] += row[k];
    }
  }
}

}  // namespace

void apply_post_ops(const Problem& problem, const OutputRows& shape, const float* bias, float* y,
                    int threads) {
  if (problem.pass != Pass::fwd || !has_post_ops(problem)) return;
  const bool activates = problem.activation != Activation::none;
  float (*const function)(float) = function_of(problem.activation);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    float* row = y + i * shape.features;
    for (std::int64_t k = 0; problem.bias && k < shape.features; ++k) row[k] += bias[k];
    if (activates) std::transform(row, row + shape.features, row, function);
  }
}

void apply_slopes(const Problem& problem, const OutputRows& shape, const float* dy,
                  const float* kept, float* dz, float* db, int threads) {
  if (problem.pass == Pass::fwd) return;
  const bool is_behind = problem.activation != Activation::none;
  if (is_behind) {
    float (*const function)(float) = slope_of(problem.activation);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (std::int64_t i = 0; i < shape.rows * shape.features; ++i)
      dz[i] = dy[i] * function(kept[i]);
  }
  if (problem.bias) sum_rows(shape, is_behind ? dz : dy, db, threads);
}

std::string_view post_ops_text(const Problem& problem) {
  if (problem.pass != Pass::fwd && has_post_ops(problem)) {
    if (problem.activation == Activation::none) return "a pass over dy for the bias";
    return problem.bias ? "a pass over dy for the derivative, a pass for the bias"
                        : "a pass over dy for the derivative";
  }
  return has_post_ops(problem) ? "a pass over y for bias and activation" : "";
}

}  // namespace loopbrick
