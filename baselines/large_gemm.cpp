#include "baselines/large_gemm.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

#include "baselines/applicable.h"
#include "baselines/blocked_channels.h"
#include "baselines/buffer.h"
#include "baselines/columns.h"
#include "baselines/large_fc.h"
#include "baselines/matrix_rows.h"
#include "baselines/post_ops.h"
#include "kernels/text.h"

namespace loopbrick {
namespace {

constexpr std::int64_t kMostInt = std::numeric_limits<int>::max();

// Half of a usual last-level cache, so that the product finds there what im2col wrote. Two images
// of any ResNet-50 layer fit.
constexpr std::int64_t kColumnBytes = std::int64_t{16} << 20;

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

/// Images that share one im2col buffer.
std::int64_t images_at_once(const Conv& conv) {
  if (is_its_own_columns(conv)) return conv.n;
  const std::int64_t floats =
      saturating_product(saturating_product(conv.p, conv.q), column_depth(conv));
  return std::clamp<std::int64_t>(kColumnBytes / saturating_product(floats, sizeof(float)), 1,
                                  conv.n);
}

std::int64_t column_floats(const Conv& conv) {
  if (is_its_own_columns(conv)) return 0;
  return saturating_product(images_at_once(conv) * conv.p * conv.q, column_depth(conv));
}

BlockedChannels channels_last(std::int64_t images, std::int64_t channels, std::int64_t pixels) {
  return {.images = images, .channels = channels, .pixels = pixels, .block = channels};
}

struct ColumnConv {
  ColumnConv(const Problem& wanted, const Conditions& conditions, Multiply library)
      : problem(wanted),
        conv(std::get<Conv>(wanted.shape)),
        threads(conditions.threads),
        multiply(library),
        images(images_at_once(conv)),
        x(conv.n * conv.h * conv.w * conv.c, conditions.pages),
        w(column_depth(conv) * conv.k, conditions.pages),
        bias(problem.bias ? conv.k : 0, conditions.pages),
        columns(column_floats(conv), conditions.pages),
        y(conv.n * conv.p * conv.q * conv.k, conditions.pages) {}

  void load(const Arrays& arrays) const {
    block_channels(channels_last(conv.n, conv.c, conv.h * conv.w),
                   array_named("x", problem, arrays).data(), x.data());
    load_weights(array_named("w", problem, arrays).data());
    if (problem.bias) std::ranges::copy(array_named("b", problem, arrays), bias.data());
  }

  /// [K][C][R][S] to [R][S][C][K].
  void load_weights(const float* plain) const {
    const std::int64_t taps = conv.r * conv.s;
    for (std::int64_t k = 0; k < conv.k; ++k) {
      for (std::int64_t c = 0; c < conv.c; ++c) {
        for (std::int64_t tap = 0; tap < taps; ++tap) {
          w.data()[(tap * conv.c + c) * conv.k + k] = plain[(k * conv.c + c) * taps + tap];
        }
      }
    }
  }

  void run() const {
    for (std::int64_t n = 0; n < conv.n; n += images) run_images(n, std::min(images, conv.n - n));
    apply_post_ops(problem, {.rows = conv.n * conv.p * conv.q, .features = conv.k}, bias.data(),
                   y.data(), threads);
  }

  void run_images(std::int64_t first, std::int64_t count) const {
    const float* a = x.data() + first * conv.h * conv.w * conv.c;
    if (!is_its_own_columns(conv)) {
      fill_columns(conv, a, count, columns.data(), threads);
      a = columns.data();
    }
    multiply({.m = count * conv.p * conv.q,
              .n = conv.k,
              .k = column_depth(conv),
              .a = a,
              .lda = column_depth(conv),
              .b = w.data(),
              .ldb = conv.k,
              .c = y.data() + first * conv.p * conv.q * conv.k,
              .ldc = conv.k},
             threads);
  }

  void unload(std::span<float> plain) const {
    unblock_channels(channels_last(conv.n, conv.k, conv.p * conv.q), y.data(), plain.data());
  }

  Problem problem;
  Conv conv;
  int threads;
  Multiply multiply;
  std::int64_t images;
  Buffer x, w, bias, columns, y;
};

std::string included_in(const Problem& problem) {
  std::string text = is_its_own_columns(std::get<Conv>(problem.shape)) ? "" : "im2col";
  if (!text.empty() && has_post_ops(problem)) text += "; ";
  return text + std::string(post_ops_text(problem));
}

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
  const auto state = std::make_shared<const ColumnConv>(problem, conditions, multiply);
  Runnable runnable;
  runnable.included = included_in(problem);
  runnable.workspace_bytes = state->columns.size_bytes();
  runnable.load = [state](const Arrays& arrays) { state->load(arrays); };
  runnable.run = [state] { state->run(); };
  runnable.unload = [state](const Arrays& arrays) {
    state->unload(array_named("y", state->problem, arrays));
  };
  return runnable;
}

// ---- fc

std::variant<Runnable, Refusal> prepare_fc(const Problem& problem, const Conditions& conditions,
                                           Multiply multiply) {
  const Fc& fc = std::get<Fc>(problem.shape);
  const std::int64_t largest = std::max({fc.n, fc.c, fc.k});
  if (largest > kMostInt) return beyond_int(largest);
  return large_fc(problem, conditions, multiply);
}

}  // namespace

std::variant<Runnable, Refusal> prepare_with_large_gemm(const Problem& problem,
                                                        const Conditions& conditions,
                                                        Multiply multiply) {
  if (std::holds_alternative<Gemm>(problem.shape)) {
    return prepare_gemm(problem, conditions, multiply);
  }
  if (std::holds_alternative<Fc>(problem.shape)) return prepare_fc(problem, conditions, multiply);
  return prepare_conv(problem, conditions, multiply);
}

}  // namespace loopbrick
