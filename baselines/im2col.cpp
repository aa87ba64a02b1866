#include <cblas.h>
#include <optional>
#include <string>

#include "baselines/applicable.h"
#include "baselines/doubt.h"
#include "baselines/large_gemm.h"
#include "baselines/rows.h"
#include "baselines/thread_count.h"

namespace loopbrick {
namespace {

/// The second word of "OpenBLAS 0.3.21 DYNAMIC_ARCH ...".
std::string version() {
  const std::string config = openblas_get_config();
  const std::size_t first = config.find(' ') + 1;
  return config.substr(first, config.find(' ', first) - first);
}

CBLAS_TRANSPOSE transposition(bool transposed) { return transposed ? CblasTrans : CblasNoTrans; }

/// The OpenMP build takes as many threads as OpenMP would, unless it was told 1.
void sgemm(const MatrixProduct& p, int threads) {
  const ThreadCount scope(threads);
  if (openblas_get_num_threads() != threads) openblas_set_num_threads(threads);
  cblas_sgemm(CblasRowMajor, transposition(p.a_transposed), transposition(p.b_transposed),
              static_cast<int>(p.m), static_cast<int>(p.n), static_cast<int>(p.k), 1.0F, p.a,
              static_cast<int>(p.lda), p.b, static_cast<int>(p.ldb), p.accumulate ? 1.0F : 0.0F,
              p.c, static_cast<int>(p.ldc));
}

std::string implementation() { return std::string("sgemm:") + openblas_get_corename(); }

/// What is wrong with the OpenBLAS that was loaded, whatever the problem.
std::optional<Refusal> why_not_openblas() {
  if (openblas_get_parallel() != OPENBLAS_OPENMP) {
    return Refusal{
        "the OpenBLAS that was loaded has threads of its own: libopenblas0-openmp is the one that "
        "shares ours"};
  }
  if (isa_named(implementation()) > best_isa()) {
    return Refusal{"OPENBLAS_CORETYPE asks for a core that has more instructions than this CPU"};
  }
  return std::nullopt;
}

std::variant<Runnable, Refusal> prepare(const Problem& problem, std::string_view choice,
                                        const Conditions& conditions) {
  if (const auto reason = why_no_baseline(problem, choice)) return *reason;
  if (const auto reason = why_not_openblas()) return *reason;
  auto result = prepare_with_large_gemm(problem, conditions, sgemm);
  if (auto* runnable = std::get_if<Runnable>(&result)) {
    runnable->implementation = implementation();
    runnable->flag = doubt(runnable->implementation, wanted_isa(conditions));
  }
  return result;
}

}  // namespace

Implementation im2col_row() {
  return {.name = "im2col",
          .sentence = "one large OpenBLAS sgemm, for a convolution on the columns of im2col",
          .version = version,
          .prepare = prepare};
}

}  // namespace loopbrick
