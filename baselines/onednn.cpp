#include <oneapi/dnnl/dnnl.hpp>

#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "baselines/applicable.h"
#include "baselines/doubt.h"
#include "baselines/onednn_execution.h"
#include "baselines/onednn_fc_backward.h"
#include "baselines/onednn_lstm.h"
#include "baselines/onednn_recipes.h"
#include "baselines/rows.h"
#include "baselines/thread_count.h"

namespace loopbrick {
namespace {

std::string version() {
  const dnnl::version_t* v = dnnl::version();
  return std::to_string(v->major) + '.' + std::to_string(v->minor) + '.' + std::to_string(v->patch);
}

Recipe recipe_for(const dnnl::engine& engine, const Problem& problem, Tag activations) {
  if (std::holds_alternative<Gemm>(problem.shape)) return onednn_gemm(engine, problem);
  if (std::holds_alternative<Fc>(problem.shape)) return onednn_fc(engine, problem, activations);
  return onednn_conv(engine, problem, activations);
}

/// oneDNN settles its ISA for the whole process at its first primitive: later calls change nothing,
/// and Runnable::flag tells.
void cap_isa(Isa wanted) {
  if (wanted >= best_isa()) return;
  dnnl::set_max_cpu_isa(wanted == Isa::avx2 ? dnnl::cpu_isa::avx2 : dnnl::cpu_isa::sse41);
}

std::optional<Refusal> why_not(const Problem& problem, std::string_view choice) {
  if (const auto reason = why_no_baseline(problem, choice)) return reason;
  const Gemm* gemm = std::get_if<Gemm>(&problem.shape);
  if (gemm && gemm->batch * gemm->k == 0) return Refusal{"oneDNN has no empty sum"};
  return std::nullopt;
}

Runnable make_runnable(Recipe recipe, const Problem& problem, const Conditions& conditions) {
  Runnable runnable;
  runnable.implementation = recipe.implementation;
  runnable.workspace_bytes = static_cast<std::int64_t>(recipe.scratchpad.get_size());
  const auto state = std::make_shared<const Execution>(std::move(recipe), problem, conditions);
  runnable.load = [state](const Arrays& arrays) { state->load(arrays); };
  runnable.run = [state] { state->run(); };
  runnable.unload = [state](const Arrays& arrays) { state->unload(arrays); };
  return runnable;
}

bool is_behind_activation(const Problem& problem) {
  return std::holds_alternative<Fc>(problem.shape) && problem.pass != Pass::fwd &&
         problem.activation != Activation::none;
}

Runnable runnable_for(const Problem& problem, Tag activations, const Conditions& conditions) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  if (std::holds_alternative<Lstm>(problem.shape)) return onednn_lstm(engine, problem, conditions);
  if (is_behind_activation(problem))
    return onednn_fc_behind_activation(onednn_fc(engine, problem, activations), problem,
                                       conditions);
  return make_runnable(recipe_for(engine, problem, activations), problem, conditions);
}

std::variant<Runnable, Refusal> prepare_with(Tag activations, const Problem& problem,
                                             std::string_view choice,
                                             const Conditions& conditions) {
  if (const auto reason = why_not(problem, choice)) return *reason;
  cap_isa(wanted_isa(conditions));
  const ThreadCount scope(conditions.threads);
  try {
    Runnable runnable = runnable_for(problem, activations, conditions);
    runnable.flag = doubt(runnable.implementation, wanted_isa(conditions));
    return runnable;
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw std::bad_alloc();
    if (error.status == dnnl_unimplemented) return Refusal{"oneDNN does not implement this"};
    if (error.status == dnnl_invalid_arguments) return Refusal{"oneDNN takes this for invalid"};
    throw std::runtime_error(std::string("oneDNN: ") + error.what());
  }
}

std::variant<Runnable, Refusal> prepare_any(const Problem& problem, std::string_view choice,
                                            const Conditions& conditions) {
  return prepare_with(Tag::any, problem, choice, conditions);
}

std::variant<Runnable, Refusal> prepare_nhwc(const Problem& problem, std::string_view choice,
                                             const Conditions& conditions) {
  if (std::holds_alternative<Gemm>(problem.shape)) {
    return Refusal{"a gemm has no channels: the row is onednn"};
  }
  if (std::holds_alternative<Lstm>(problem.shape)) {
    return Refusal{"an lstm lies as the problem says: the row is onednn"};
  }
  return prepare_with(Tag::nhwc, problem, choice, conditions);
}

}  // namespace

Implementation onednn_row() {
  return {.name = "onednn",
          .sentence =
              "oneDNN's direct convolution, inner product, LSTM or matmul in the layouts that it "
              "picks",
          .version = version,
          .prepare = prepare_any};
}

Implementation onednn_nhwc_row() {
  return {.name = "onednn-nhwc",
          .sentence =
              "oneDNN's direct convolution with activations channels-last, or inner product with "
              "all operands row-major",
          .version = version,
          .prepare = prepare_nhwc};
}

}  // namespace loopbrick
