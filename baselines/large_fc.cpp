#include "baselines/large_fc.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string_view>

#include "baselines/applicable.h"
#include "baselines/buffer.h"
#include "baselines/post_ops.h"

namespace loopbrick {
namespace {

/// The three matrices of a layer: inputs, or what stands for them on the way back.
struct LayerData {
  float *x = nullptr, *w = nullptr, *y = nullptr;  ///< [n][c], [k][c], [n][k]
};

MatrixProduct product_of(const Fc& fc, Pass pass, const LayerData& data) {
  if (pass == Pass::bwd_d) {
    return {.m = fc.n,
            .n = fc.c,
            .k = fc.k,
            .a = data.y,
            .lda = fc.k,
            .b = data.w,
            .ldb = fc.c,
            .c = data.x,
            .ldc = fc.c};
  }
  if (pass == Pass::bwd_w) {
    return {.m = fc.k,
            .n = fc.c,
            .k = fc.n,
            .a = data.y,
            .lda = fc.k,
            .a_transposed = true,
            .b = data.x,
            .ldb = fc.c,
            .c = data.w,
            .ldc = fc.c};
  }
  return {.m = fc.n,
          .n = fc.k,
          .k = fc.c,
          .a = data.x,
          .lda = fc.c,
          .b = data.w,
          .ldb = fc.c,
          .b_transposed = true,
          .c = data.y,
          .ldc = fc.k};
}

struct LargeFc {
  LargeFc(const Problem& wanted, const Conditions& conditions, Multiply library)
      : problem(wanted),
        fc(std::get<Fc>(wanted.shape)),
        threads(conditions.threads),
        multiply(library),
        x(fc.n * fc.c, conditions.pages),
        w(fc.k * fc.c, conditions.pages),
        bias(problem.bias ? fc.k : 0, conditions.pages),
        y(fc.n * fc.k, conditions.pages),
        kept(is_behind_activation() ? fc.n * fc.k : 0, conditions.pages),
        dz(is_behind_activation() ? fc.n * fc.k : 0, conditions.pages) {}

  bool is_behind_activation() const {
    return problem.pass != Pass::fwd && problem.activation != Activation::none;
  }

  /// The memory of the operand with this name.
  float* data_of(std::string_view name) const {
    if (name.ends_with('b')) return bias.data();
    if (name == "z" || (name == "y" && is_behind_activation())) return kept.data();
    if (name.ends_with('x')) return x.data();
    return name.ends_with('w') ? w.data() : y.data();
  }

  void load(const Arrays& arrays) const {
    for (const Operand& operand : operands(problem)) {
      if (operand.output) continue;
      std::ranges::copy(array_named(operand.name, problem, arrays), data_of(operand.name));
    }
  }

  void run() const {
    const OutputRows shape{.rows = fc.n, .features = fc.k};
    float* const outputs =
        is_behind_activation() ? dz.data() : y.data();  // of the forward product, or its gradient
    apply_slopes(problem, shape, y.data(), kept.data(), dz.data(), bias.data(), threads);
    multiply(product_of(fc, problem.pass, {.x = x.data(), .w = w.data(), .y = outputs}), threads);
    apply_post_ops(problem, shape, bias.data(), y.data(), threads);
  }

  void unload(const Arrays& arrays) const {
    for (const Operand& operand : operands(problem)) {
      if (!operand.output) continue;
      const std::span<float> plain = array_named(operand.name, problem, arrays);
      std::copy_n(data_of(operand.name), plain.size(), plain.data());
    }
  }

  Problem problem;
  Fc fc;
  int threads;
  Multiply multiply;
  Buffer x, w, bias, y;  ///< or their gradients
  Buffer kept, dz;
};

}  // namespace

Runnable large_fc(const Problem& problem, const Conditions& conditions, Multiply multiply) {
  const auto state = std::make_shared<const LargeFc>(problem, conditions, multiply);
  Runnable runnable;
  runnable.included = post_ops_text(problem);
  runnable.load = [state](const Arrays& arrays) { state->load(arrays); };
  runnable.run = [state] { state->run(); };
  runnable.unload = [state](const Arrays& arrays) { state->unload(arrays); };
  return runnable;
}

}  // namespace loopbrick
