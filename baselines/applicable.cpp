#include "baselines/applicable.h"

namespace loopbrick {
namespace {

std::optional<Refusal> why_no_pass(const Problem& problem) {
  if (problem.pass == Pass::fwd) return std::nullopt;
  if (!std::holds_alternative<Fc>(problem.shape)) {
    return Refusal{"the baselines compute conv and gemm in fwd only"};
  }
  if (problem.pass != Pass::bwd_d && problem.pass != Pass::bwd_w) {
    return Refusal{"the baselines compute fc in fwd, bwd_d and bwd_w only"};
  }
  if (has_post_ops(problem)) {
    return Refusal{"the baselines compute bwd_d and bwd_w without bias and activation only"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> why_no_baseline(const Problem& problem, std::string_view choice) {
  const bool is_gemm = std::holds_alternative<Gemm>(problem.shape);
  if (!choice.empty()) return Refusal{"a baseline takes no choice"};
  if (std::holds_alternative<Lstm>(problem.shape)) {
    return Refusal{"the baselines compute conv, fc and gemm only"};
  }
  if (const auto reason = why_no_pass(problem)) return reason;
  if (problem.type != DType::f32) return Refusal{"the baselines compute f32 only"};
  if (is_gemm && has_post_ops(problem)) {
    return Refusal{"the baselines compute gemm without bias and activation only"};
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
