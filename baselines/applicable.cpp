#include "baselines/applicable.h"

namespace loopbrick {

std::optional<Refusal> why_no_baseline(const Problem& problem, std::string_view choice) {
  if (!choice.empty()) return Refusal{"a baseline takes no choice"};
  if (problem.type != DType::f32) return Refusal{"the baselines compute f32 only"};
  if (!has_post_ops(problem)) return std::nullopt;
  if (std::holds_alternative<Gemm>(problem.shape)) {
    return Refusal{"the baselines compute gemm without bias and activation only"};
  }
  if (problem.pass != Pass::fwd && !std::holds_alternative<Fc>(problem.shape)) {
    return Refusal{"the baselines compute bwd_d and bwd_w without bias and activation only"};
  }
  return std::nullopt;
}

bool has_post_ops(const Problem& problem) {
  return problem.bias || problem.activation != Activation::none;
}

std::span<float> array_named(std::string_view name, const Problem& problem, const Arrays& arrays) {
  const std::vector<Operand> all = operands(problem);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == name) return arrays[i];
  }
  return {};
}

}  // namespace loopbrick
