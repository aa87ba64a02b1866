#include "baselines/column_conv.h"

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "baselines/applicable.h"
#include "baselines/blocked_channels.h"
#include "baselines/buffer.h"
#include "baselines/columns.h"
#include "baselines/post_ops.h"
#include "kernels/text.h"

namespace loopbrick {
namespace {

// Half of a usual last-level cache, so that the product finds there what im2col wrote. Two images
// of any ResNet-50 layer fit.
constexpr std::int64_t kColumnBytes = std::int64_t{16} << 20;

BlockedChannels channels_last(std::int64_t images, std::int64_t channels, std::int64_t pixels) {
  return {.images = images, .channels = channels, .pixels = pixels, .block = channels};
}

std::int64_t column_floats(const Conv& conv) {
  if (is_its_own_columns(conv)) return 0;
  return saturating_product(images_at_once(conv) * conv.p * conv.q, column_depth(conv));
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

  /// The memory of the operand with this name, channels last; the weights, which lie as
  /// [R][S][C][K], are no activation.
  float* activations_named(std::string_view name) const {
    if (name.ends_with('x')) return x.data();
    return name.ends_with('y') ? y.data() : nullptr;
  }

  BlockedChannels channels_of(const Operand& activations) const {
    const std::vector<std::int64_t>& nchw = activations.extents;
    return channels_last(nchw[0], nchw[1], nchw[2] * nchw[3]);
  }

  void load(const Arrays& arrays) const {
    for (const Operand& operand : operands(problem)) {
      if (operand.output) continue;
      const std::span<float> array = array_named(operand.name, problem, arrays);
      if (operand.name == "b") {
        std::ranges::copy(array, bias.data());
      } else if (operand.name == "w") {
        each_weight([&](std::int64_t plain, std::int64_t own) {
          w.data()[own] = array[static_cast<std::size_t>(plain)];
        });
      } else {
        block_channels(channels_of(operand), array.data(), activations_named(operand.name));
      }
    }
  }

  /// Calls with where a weight lies in [K][C][R][S] and in [R][S][C][K].
  template <typename Visit>
  void each_weight(Visit visit) const {
    const std::int64_t taps = conv.r * conv.s;
    for (std::int64_t k = 0; k < conv.k; ++k) {
      for (std::int64_t c = 0; c < conv.c; ++c) {
        for (std::int64_t tap = 0; tap < taps; ++tap) {
          visit((k * conv.c + c) * taps + tap, (tap * conv.c + c) * conv.k + k);
        }
      }
    }
  }

  void run() const {
    for (std::int64_t n = 0; n < conv.n; n += images) {
      const std::int64_t count = std::min(images, conv.n - n);
      if (problem.pass == Pass::bwd_d) {
        run_backward_data(n, count);
      } else if (problem.pass == Pass::bwd_w) {
        run_backward_weights(n, count);
      } else {
        run_forward(n, count);
      }
    }
    apply_post_ops(problem, {.rows = conv.n * conv.p * conv.q, .features = conv.k}, bias.data(),
                   y.data(), threads);
  }

  float* image_of_x(std::int64_t n) const { return x.data() + n * conv.h * conv.w * conv.c; }
  float* image_of_y(std::int64_t n) const { return y.data() + n * conv.p * conv.q * conv.k; }

  /// The im2col matrix of these images: in the buffer, or x itself.
  const float* columns_of(std::int64_t first, std::int64_t count) const {
    if (is_its_own_columns(conv)) return image_of_x(first);
    fill_columns(conv, image_of_x(first), count, columns.data(), threads);
    return columns.data();
  }

  /// y = columns w.
  void run_forward(std::int64_t first, std::int64_t count) const {
    multiply({.m = count * conv.p * conv.q,
              .n = conv.k,
              .k = column_depth(conv),
              .a = columns_of(first, count),
              .lda = column_depth(conv),
              .b = w.data(),
              .ldb = conv.k,
              .c = image_of_y(first),
              .ldc = conv.k},
             threads);
  }

  /// columns = dy w^T, which col2im adds up to dx.
  void run_backward_data(std::int64_t first, std::int64_t count) const {
    const bool direct = is_its_own_columns(conv);
    multiply({.m = count * conv.p * conv.q,
              .n = column_depth(conv),
              .k = conv.k,
              .a = image_of_y(first),
              .lda = conv.k,
              .b = w.data(),
              .ldb = conv.k,
              .b_transposed = true,
              .c = direct ? image_of_x(first) : columns.data(),
              .ldc = column_depth(conv)},
             threads);
    if (!direct) add_columns(conv, columns.data(), count, image_of_x(first), threads);
  }

  /// dw += columns^T dy.
  void run_backward_weights(std::int64_t first, std::int64_t count) const {
    multiply({.m = column_depth(conv),
              .n = conv.k,
              .k = count * conv.p * conv.q,
              .a = columns_of(first, count),
              .lda = column_depth(conv),
              .a_transposed = true,
              .b = image_of_y(first),
              .ldb = conv.k,
              .c = w.data(),
              .ldc = conv.k,
              .accumulate = first > 0},
             threads);
  }

  void unload(std::span<float> plain) const {
    const Operand result = operands(problem).back();
    if (problem.pass == Pass::bwd_w) {
      each_weight([&](std::int64_t to, std::int64_t own) {
        plain[static_cast<std::size_t>(to)] = w.data()[own];
      });
    } else {
      unblock_channels(channels_of(result), activations_named(result.name), plain.data());
    }
  }

  Problem problem;
  Conv conv;
  int threads;
  Multiply multiply;
  std::int64_t images;
  Buffer x, w, bias, columns, y;
};

std::string included_in(const Problem& problem) {
  std::string text = problem.pass == Pass::bwd_d ? "col2im" : "im2col";
  if (is_its_own_columns(std::get<Conv>(problem.shape))) text = "";
  if (!text.empty() && has_post_ops(problem)) text += "; ";
  return text + std::string(post_ops_text(problem));
}

}  // namespace

std::int64_t images_at_once(const Conv& conv) {
  if (is_its_own_columns(conv)) return conv.n;
  const std::int64_t floats =
      saturating_product(saturating_product(conv.p, conv.q), column_depth(conv));
  return std::clamp<std::int64_t>(kColumnBytes / saturating_product(floats, sizeof(float)), 1,
                                  conv.n);
}

Runnable column_conv(const Problem& problem, const Conditions& conditions, Multiply multiply) {
  const auto state = std::make_shared<const ColumnConv>(problem, conditions, multiply);
  Runnable runnable;
  runnable.included = included_in(problem);
  runnable.workspace_bytes = state->columns.size_bytes();
  runnable.load = [state](const Arrays& arrays) { state->load(arrays); };
  runnable.run = [state] { state->run(); };
  runnable.unload = [state](const Arrays& arrays) { state->unload(arrays.back()); };
  return runnable;
}

}  // namespace loopbrick
