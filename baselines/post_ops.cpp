#include "baselines/post_ops.h"

#include <algorithm>
#include <cmath>
#include <numbers>

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

}  // namespace

void apply_post_ops(const Problem& problem, const OutputRows& shape, const float* bias, float* y,
                    int threads) {
  if (!has_post_ops(problem)) return;
  const bool activates = problem.activation != Activation::none;
  float (*const function)(float) = function_of(problem.activation);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    float* row = y + i * shape.features;
    for (std::int64_t k = 0; problem.bias && k < shape.features; ++k) row[k] += bias[k];
    if (activates) std::transform(row, row + shape.features, row, function);
  }
}

std::string_view post_ops_text(const Problem& problem) {
  return has_post_ops(problem) ? "a pass over y for bias and activation" : "";
}

}  // namespace loopbrick
