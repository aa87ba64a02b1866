#include "baselines/applicable.h"

namespace loopbrick {

std::optional<Refusal> why_no_baseline(const Problem& problem, std::string_view choice) {
  const bool is_gemm = std::holds_alternative<Gemm>(problem.shape);
  if (!choice.empty()) return Refusal{"a baseline takes no choice"};
  if (problem.pass != Pass::fwd) return Refusal{"the baselines compute fwd only"};
  if (problem.type != DType::f32) return Refusal{"the baselines compute f32 only"};
  if (!is_gemm && !std::holds_alternative<Conv>(problem.shape)) {
    return Refusal{"the baselines compute conv and gemm only"};
  }
  if (is_gemm && (problem.bias || problem.activation != Activation::none)) {
    return Refusal{"the baselines compute gemm without bias and activation only"};
  }
  return std::nullopt;
}

std::span<float> array_named(std::string_view name, const Problem& problem, const Arrays& arrays) {
  const std::vector<Operand> all = operands(problem);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name == name) return arrays[i];
  }
  return {};
}

}  // namespace loopbrick
