#include "baselines/post_ops.h"

#include <algorithm>

#include "baselines/applicable.h"

namespace loopbrick {

void apply_post_ops(const Problem& problem, const OutputRows& shape, const float* bias, float* y,
                    int threads) {
  if (!has_post_ops(problem)) return;
  const bool relu = problem.activation == Activation::relu;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    float* row = y + i * shape.features;
    for (std::int64_t k = 0; problem.bias && k < shape.features; ++k) row[k] += bias[k];
    for (std::int64_t k = 0; relu && k < shape.features; ++k) row[k] = std::max(row[k], 0.0F);
  }
}

std::string_view post_ops_text(const Problem& problem) {
  return has_post_ops(problem) ? "a pass over y for bias and activation" : "";
}

}  // namespace loopbrick
