#include "problems/operands.h"

#include "kernels/text.h"

namespace loopbrick {
namespace {

Operand input(std::string_view name, std::vector<std::int64_t> extents) {
  return {name, std::move(extents), false};
}
Operand output(std::string_view name, std::vector<std::int64_t> extents) {
  return {name, std::move(extents), true};
}

/// `inputs`, a bias of `features` elements if the problem has one, then `result`.
std::vector<Operand> with_bias(const Problem& problem, std::vector<Operand> inputs,
                               std::string_view name, std::int64_t features, Operand result) {
  if (problem.bias) inputs.push_back(input(name, {features}));
  inputs.push_back(std::move(result));
  return inputs;
}

std::vector<Operand> operands_of(const Problem& problem, const Gemm& gemm) {
  return with_bias(
      problem, {input("a", {gemm.batch, gemm.m, gemm.k}), input("b", {gemm.batch, gemm.k, gemm.n})},
      "bias", gemm.n, output("c", {gemm.m, gemm.n}));
}

/// `inputs`, what the activation keeps for its slope, then `result`.
std::vector<Operand> with_kept(const Problem& problem, std::vector<Operand> inputs,
                               const std::vector<std::int64_t>& y, Operand result) {
  if (problem.activation != Activation::none)
    inputs.push_back(input(slope_follows_from_result(problem.activation) ? "y" : "z", y));
  inputs.push_back(std::move(result));
  return inputs;
}

/// The three passes of a layer that multiplies activations x by weights w.
std::vector<Operand> layer_operands(const Problem& problem, std::vector<std::int64_t> x,
                                    std::vector<std::int64_t> w, std::vector<std::int64_t> y) {
  const std::int64_t features = y[1];
  if (problem.pass == Pass::bwd_d)
    return with_kept(problem, {input("dy", y), input("w", w)}, y, output("dx", x));
  if (problem.pass == Pass::bwd_w) {
    auto all = with_kept(problem, {input("x", x), input("dy", y)}, y, output("dw", w));
    if (problem.bias) all.push_back(output("db", {features}));
    return all;
  }
  return with_bias(problem, {input("x", x), input("w", w)}, "b", features, output("y", y));
}

std::vector<std::int64_t> filter_extents(const Conv& conv) {
  if (conv.groups == 1) return {conv.k, conv.c, conv.r, conv.s};
  return {conv.groups, conv.k / conv.groups, conv.c / conv.groups, conv.r, conv.s};
}

std::vector<Operand> operands_of(const Problem& problem, const Conv& conv) {
  return layer_operands(problem, {conv.n, conv.c, conv.h, conv.w}, filter_extents(conv),
                        {conv.n, conv.k, conv.p, conv.q});
}

std::vector<Operand> operands_of(const Problem& problem, const Fc& fc) {
  return layer_operands(problem, {fc.n, fc.c}, {fc.k, fc.c}, {fc.n, fc.k});
}

std::vector<Operand> operands_of(const Problem& problem, const Lstm& lstm) {
  const std::vector<std::int64_t> x{lstm.t, lstm.n, lstm.c}, h{lstm.t, lstm.n, lstm.k},
      state{lstm.n, lstm.k}, w{4, lstm.k, lstm.c}, r{4, lstm.k, lstm.k}, b{4, lstm.k};
  std::vector<Operand> all{input("x", x), input("h0", state), input("c0", state),
                           input("w", w), input("r", r),      input("b", b)};
  if (problem.pass == Pass::bwd) {
    all.insert(all.end(), {input("dh", h), input("dc", state)});
    all.insert(all.end(), {output("dx", x), output("dh0", state), output("dc0", state),
                           output("dw", w), output("dr", r), output("db", b)});
  } else {
    all.insert(all.end(), {output("h", h), output("c", h)});
  }
  return all;
}

std::int64_t summed(const Problem&, const Gemm& gemm) {
  return saturating_product(gemm.batch, gemm.k);
}

std::int64_t summed(const Problem& problem, const Conv& conv) {
  const std::int64_t filter = conv.r * conv.s;
  if (problem.pass == Pass::bwd_d) return saturating_product(conv.k / conv.groups, filter);
  if (problem.pass == Pass::bwd_w) return saturating_product(conv.n, conv.p * conv.q);
  return saturating_product(conv.c / conv.groups, filter);
}

std::int64_t summed(const Problem& problem, const Fc& fc) {
  if (problem.pass == Pass::bwd_d) return fc.k;
  return problem.pass == Pass::bwd_w ? fc.n : fc.c;
}

std::int64_t summed(const Problem&, const Lstm& lstm) { return lstm.c + lstm.k; }

}  // namespace

std::vector<Operand> operands(const Problem& problem) {
  return std::visit([&](const auto& shape) { return operands_of(problem, shape); }, problem.shape);
}

std::int64_t elements(const Operand& operand) {
  std::int64_t product = 1;
  for (const std::int64_t extent : operand.extents) {
    if (extent == 0) return 0;
    product = saturating_product(product, extent);
  }
  return product;
}

std::int64_t total_bytes(const Problem& problem) {
  std::int64_t total = 0;
  for (const Operand& operand : operands(problem)) {
    total = saturating_sum(total, saturating_product(elements(operand), size_bytes(problem.type)));
  }
  return total;
}

std::int64_t sum_length(const Problem& problem) {
  return std::visit([&](const auto& shape) { return summed(problem, shape); }, problem.shape);
}

}  // namespace loopbrick
