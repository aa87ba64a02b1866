#include <libxsmm.h>
#include <string>

#include "baselines/applicable.h"
#include "baselines/doubt.h"
#include "baselines/libxsmm_conv.h"
#include "baselines/libxsmm_lstm.h"
#include "baselines/rows.h"

namespace loopbrick {
namespace {

std::string version() { return LIBXSMM_VERSION; }

/// libxsmm keeps its kernels for the life of the process, so the first caller settles the ISA;
/// Runnable::flag tells.
int settled_arch(Isa wanted) {
  static const int arch = [wanted] {
    libxsmm_init();
    if (wanted < best_isa()) {
      libxsmm_set_target_archid(wanted == Isa::avx2 ? LIBXSMM_X86_AVX2 : LIBXSMM_X86_SSE4);
    }
    return libxsmm_get_target_archid();
  }();
  return arch;
}

std::string implementation(int arch) {
  if (arch >= LIBXSMM_X86_AVX512) return "brgemm:avx512";
  return arch >= LIBXSMM_X86_AVX2 ? "brgemm:avx2" : "brgemm:sse";
}

std::variant<Runnable, Refusal> prepare_shape(const Problem& problem, const Conditions& conditions,
                                              LibxsmmRim rim) {
  if (std::holds_alternative<Conv>(problem.shape)) return libxsmm_conv(problem, conditions, rim);
  if (!std::holds_alternative<Lstm>(problem.shape)) {
    return Refusal{"these rows run libxsmm's convolutions and lstm only"};
  }
  if (rim == LibxsmmRim::stored) return Refusal{"an lstm has no padding: the row is libxsmm"};
  return libxsmm_lstm(problem, conditions);
}

std::variant<Runnable, Refusal> prepare_with(LibxsmmRim rim, const Problem& problem,
                                             std::string_view choice,
                                             const Conditions& conditions) {
  if (const auto reason = why_no_baseline(problem, choice)) return *reason;
  const int arch = settled_arch(wanted_isa(conditions));
  auto result = prepare_shape(problem, conditions, rim);
  if (auto* runnable = std::get_if<Runnable>(&result)) {
    runnable->implementation = implementation(arch);
    runnable->flag = doubt(runnable->implementation, wanted_isa(conditions));
  }
  return result;
}

std::variant<Runnable, Refusal> prepare_copied(const Problem& problem, std::string_view choice,
                                               const Conditions& conditions) {
  return prepare_with(LibxsmmRim::copied, problem, choice, conditions);
}

std::variant<Runnable, Refusal> prepare_stored(const Problem& problem, std::string_view choice,
                                               const Conditions& conditions) {
  return prepare_with(LibxsmmRim::stored, problem, choice, conditions);
}

}  // namespace

Implementation libxsmm_row() {
  return {
      .name = "libxsmm",
      .sentence = "libxsmm's direct convolution on activations without padding, or its LSTM cell",
      .version = version,
      .prepare = prepare_copied};
}

Implementation libxsmm_rim_row() {
  return {.name = "libxsmm-rim",
          .sentence = "libxsmm's direct convolution on activations that lie with their padding",
          .version = version,
          .prepare = prepare_stored};
}

}  // namespace loopbrick
