#include "baselines/large_gemm.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

#include "baselines/applicable.h"
#include "baselines/buffer.h"
#include "baselines/column_conv.h"
#include "baselines/columns.h"
#include "baselines/large_fc.h"
#include "baselines/large_lstm.h"
#include "baselines/matrix_rows.h"
#include "kernels/text.h"

namespace loopbrick {
namespace {

constexpr std::int64_t kMostInt = std::numeric_limits<int>::max();

Refusal beyond_int(std::int64_t got) {
  return {"a matrix size of {got} is beyond the int of the library: {limit} at most", got,
          kMostInt};
}

// ---- gemm

struct LargeGemm {
  LargeGemm(const Gemm& shape, const Conditions& conditions, Multiply library)
      : gemm(shape),
        threads(conditions.threads),
        multiply(library),
        a(shape.batch * shape.m * shape.lda, conditions.pages),
        b(shape.batch * shape.k * shape.ldb, conditions.pages),
        c(shape.m * shape.ldc, conditions.pages) {}

  void load(std::span<const float> plain_a, std::span<const float> plain_b) const {
    copy_rows(plain_a.data(), gemm.k, a.data(), gemm.lda, gemm.batch * gemm.m, gemm.k);
    copy_rows(plain_b.data(), gemm.n, b.data(), gemm.ldb, gemm.batch * gemm.k, gemm.n);
  }

  void run() const {
    MatrixProduct product{.m = gemm.m,
                          .n = gemm.n,
                          .k = gemm.batch > 0 ? gemm.k : 0,
                          .a = a.data(),
                          .lda = gemm.lda,
                          .b = b.data(),
                          .ldb = gemm.ldb,
                          .c = c.data(),
                          .ldc = gemm.ldc};
    multiply(product, threads);
    product.accumulate = true;
    for (std::int64_t i = 1; i < gemm.batch; ++i) {
      product.a += gemm.m * gemm.lda;
      product.b += gemm.k * gemm.ldb;
      multiply(product, threads);
    }
  }

  void unload(std::span<float> plain_c) const {
    copy_rows(c.data(), gemm.ldc, plain_c.data(), gemm.n, gemm.m, gemm.n);
  }

  Gemm gemm;
  int threads;
  Multiply multiply;
  Buffer a, b, c;
};

std::variant<Runnable, Refusal> prepare_gemm(const Problem& problem, const Conditions& conditions,
                                             Multiply multiply) {
  const Gemm& gemm = std::get<Gemm>(problem.shape);
  const std::int64_t largest = std::max({gemm.m, gemm.n, gemm.k, gemm.lda, gemm.ldb, gemm.ldc});
  if (largest > kMostInt) return beyond_int(largest);
  const auto state = std::make_shared<const LargeGemm>(gemm, conditions, multiply);
  Runnable runnable;
  runnable.included = gemm.batch > 1 ? "one product per batch entry, C added to in memory" : "";
  runnable.load = [state, problem](const Arrays& arrays) {
    state->load(array_named("a", problem, arrays), array_named("b", problem, arrays));
  };
  runnable.run = [state] { state->run(); };
  runnable.unload = [state, problem](const Arrays& arrays) {
    state->unload(array_named("c", problem, arrays));
  };
  return runnable;
}

// ---- conv

std::optional<Refusal> why_not_columns(const Conv& conv) {
  if (conv.groups > 1) {
    return Refusal{"im2col has one product for all channels, not {got} groups", conv.groups};
  }
  const std::int64_t rows =
      saturating_product(images_at_once(conv), saturating_product(conv.p, conv.q));
  const std::int64_t largest = std::max({rows, column_depth(conv), conv.k});
  if (largest > kMostInt) return beyond_int(largest);
  return std::nullopt;
}

std::variant<Runnable, Refusal> prepare_conv(const Problem& problem, const Conditions& conditions,
                                             Multiply multiply) {
  if (const auto reason = why_not_columns(std::get<Conv>(problem.shape))) return *reason;
  return column_conv(problem, conditions, multiply);
}

// ---- fc

std::variant<Runnable, Refusal> prepare_fc(const Problem& problem, const Conditions& conditions,
                                           Multiply multiply) {
  const Fc& fc = std::get<Fc>(problem.shape);
  const std::int64_t largest = std::max({fc.n, fc.c, fc.k});
  if (largest > kMostInt) return beyond_int(largest);
  return large_fc(problem, conditions, multiply);
}

// ---- lstm

std::variant<Runnable, Refusal> prepare_lstm(const Problem& problem, const Conditions& conditions,
                                             Multiply multiply) {
  const Lstm& lstm = std::get<Lstm>(problem.shape);
  if (problem.pass == Pass::bwd) return Refusal{"large products are made of an lstm forward only"};
  const std::int64_t largest =
      std::max({saturating_product(lstm.t, lstm.n), saturating_product(4, lstm.k), lstm.c});
  if (largest > kMostInt) return beyond_int(largest);
  return large_lstm(problem, conditions, multiply);
}

}  // namespace

std::variant<Runnable, Refusal> prepare_with_large_gemm(const Problem& problem,
                                                        const Conditions& conditions,
                                                        Multiply multiply) {
  if (std::holds_alternative<Lstm>(problem.shape)) {
    return prepare_lstm(problem, conditions, multiply);
  }
  if (std::holds_alternative<Gemm>(problem.shape)) {
    return prepare_gemm(problem, conditions, multiply);
  }
  if (std::holds_alternative<Fc>(problem.shape)) return prepare_fc(problem, conditions, multiply);
  return prepare_conv(problem, conditions, multiply);
}

}  // namespace loopbrick
