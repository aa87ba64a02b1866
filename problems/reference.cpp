#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <stdexcept>

#include "problems/conv_backward_reference.h"
#include "problems/fc_backward_reference.h"
#include "problems/lstm_reference.h"
#include "problems/operands.h"
#include "problems/reference_tile.h"

// Every primitive is a SlowProduct: rows are output pixels (or minibatch entries, or rows of C),
// columns output features, and the depth is what is summed.

namespace loopbrick {
namespace {

/// Bias, activation and the one rounding.
class Finish {
 public:
  Finish(const Problem& problem, const float* bias)
      : bias_(problem.bias ? bias : nullptr), activation_(problem.activation) {}

  float operator()(double sum, std::int64_t feature) const {
    const double value = bias_ == nullptr ? sum : sum + static_cast<double>(bias_[feature]);
    return static_cast<float>(activated(activation_, value));
  }

 private:
  const float* bias_;
  Activation activation_;
};

void run_gemm(const Problem& problem, const Gemm& gemm, const Arrays& arrays, int threads) {
  const float* const a = arrays[0].data();
  float* const c = arrays.back().data();
  const Finish finish(problem, arrays[2].data());
  const auto copy_a = [&gemm, a](std::int64_t, std::int64_t row, std::int64_t first,
                                 std::int64_t count, double* piece) {
    const std::int64_t rows = std::min(kTileRows, gemm.m - row);
    for (std::int64_t d = first; d < first + count; ++d, piece += kTileRows) {
      const float* const matrix = a + d / gemm.k * gemm.m * gemm.k + d % gemm.k;
      for (std::int64_t i = 0; i < rows; ++i)
        piece[i] = static_cast<double>(matrix[(row + i) * gemm.k]);
    }
  };
  const auto store = [&](std::int64_t, std::int64_t row, std::int64_t col, double sum) {
    c[row * gemm.n + col] = finish(sum, col);
  };
  run({.rows = gemm.m,
       .cols = gemm.n,
       .depth = gemm.batch * gemm.k,
       .b = arrays[1].data(),
       .b_depth_stride = gemm.n,
       .b_col_stride = 1,
       .a = copy_a,
       .store = store},
      threads);
}

/// A convolution as products, one per group: a row is an output pixel, the depth walks c, r, s.
class ConvProduct {
 public:
  explicit ConvProduct(const Conv& conv)
      : conv_(conv),
        inputs_(conv.c / conv.groups),
        features_(conv.k / conv.groups),
        taps_(conv.r * conv.s) {}

  std::int64_t rows() const { return conv_.n * conv_.p * conv_.q; }
  std::int64_t features() const { return features_; }
  std::int64_t taps() const { return taps_; }
  std::int64_t depth() const { return inputs_ * taps_; }
  std::int64_t feature(std::int64_t group, std::int64_t col) const {
    return group * features_ + col;
  }
  std::int64_t output(std::int64_t row, std::int64_t feature) const {
    const std::int64_t pixels = conv_.p * conv_.q;
    return (row / pixels * conv_.k + feature) * pixels + row % pixels;
  }

  /// Gathers the channels [first, first + count) / taps under the windows of eight output pixels.
  void gather(const float* x, std::int64_t group, std::int64_t row, std::int64_t first,
              std::int64_t count, double* piece) const {
    const std::int64_t used = std::min(kTileRows, rows() - row);
    std::array<Window, kTileRows> windows;
    for (std::int64_t i = 0; i < used; ++i)
      windows[static_cast<std::size_t>(i)] = window_of(row + i);
    for (std::int64_t d = 0; d < count; d += taps_) {
      const std::int64_t channel = group * inputs_ + (first + d) / taps_;
      for (std::int64_t i = 0; i < used; ++i) {
        const Window& window = windows[static_cast<std::size_t>(i)];
        const float* const plane = x + (window.image * conv_.c + channel) * conv_.h * conv_.w;
        gather_window(plane, window, piece + d * kTileRows + i);
      }
    }
  }

 private:
  /// What one output pixel reads: its image, and where its window begins in the input.
  struct Window {
    std::int64_t image = 0, h = 0, w = 0;
  };

  Window window_of(std::int64_t row) const {
    const std::int64_t in_image = row % (conv_.p * conv_.q);
    return {row / (conv_.p * conv_.q), in_image / conv_.q * conv_.stride_h - conv_.pad_h,
            in_image % conv_.q * conv_.stride_w - conv_.pad_w};
  }

  void gather_window(const float* plane, const Window& window, double* to) const {
    for (std::int64_t r = 0; r < conv_.r; ++r) {
      const std::int64_t h = window.h + r * conv_.dilation_h;
      const bool row_inside = h >= 0 && h < conv_.h;
      for (std::int64_t s = 0; s < conv_.s; ++s, to += kTileRows) {
        const std::int64_t w = window.w + s * conv_.dilation_w;
        const bool inside = row_inside && w >= 0 && w < conv_.w;
        *to = inside ? static_cast<double>(plane[h * conv_.w + w]) : 0.0;
      }
    }
  }

  const Conv& conv_;
  std::int64_t inputs_, features_, taps_;
};

void run_conv_forward(const Problem& problem, const Conv& conv, const Arrays& arrays, int threads) {
  const ConvProduct product(conv);
  const float* const x = arrays[0].data();
  float* const y = arrays.back().data();
  const Finish finish(problem, arrays[2].data());
  const auto gather = [&](std::int64_t group, std::int64_t row, std::int64_t first,
                          std::int64_t count,
                          double* piece) { product.gather(x, group, row, first, count, piece); };
  const auto store = [&](std::int64_t group, std::int64_t row, std::int64_t col, double sum) {
    const std::int64_t feature = product.feature(group, col);
    y[product.output(row, feature)] = finish(sum, feature);
  };
  run({.groups = conv.groups,
       .rows = product.rows(),
       .cols = product.features(),
       .depth = product.depth(),
       .depth_multiple = product.taps(),
       .b = arrays[1].data(),
       .b_group_stride = product.features() * product.depth(),
       .b_depth_stride = 1,
       .b_col_stride = product.depth(),
       .a = gather,
       .store = store},
      threads);
}

void run_conv(const Problem& problem, const Conv& conv, const Arrays& arrays, int threads) {
  if (problem.pass == Pass::bwd_d) return conv_backward_data(conv, arrays, threads);
  if (problem.pass == Pass::bwd_w) return conv_backward_weights(conv, arrays, threads);
  run_conv_forward(problem, conv, arrays, threads);
}

/// A fully connected layer is a convolution of one pixel.
Conv as_conv(const Fc& fc) { return {.n = fc.n, .c = fc.c, .k = fc.k}; }

void check_arrays(const Problem& problem, const Arrays& arrays) {
  const std::vector<Operand> all = operands(problem);
  if (all.size() != arrays.size()) {
    throw std::invalid_argument(
        fmt::format("reference: {} arrays for {} operands", arrays.size(), all.size()));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (static_cast<std::int64_t>(arrays[i].size()) != elements(all[i])) {
      throw std::invalid_argument(fmt::format("reference: {} has {} elements, not {}", all[i].name,
                                              arrays[i].size(), elements(all[i])));
    }
  }
}

bool has_reference(const Problem& problem) {
  const bool is_backward = problem.pass == Pass::bwd_d || problem.pass == Pass::bwd_w;
  if (std::holds_alternative<Lstm>(problem.shape)) return !is_backward;
  return problem.pass == Pass::fwd || (is_backward && !std::holds_alternative<Gemm>(problem.shape));
}

}  // namespace

void reference(const Problem& problem, const Arrays& arrays, int threads) {
  check_arrays(problem, arrays);
  if (!has_reference(problem)) {
    throw std::invalid_argument(
        fmt::format("no reference for {} {}", kind_of(problem), to_string(problem.pass)));
  }
  if (std::holds_alternative<Lstm>(problem.shape)) return lstm_reference(problem, arrays, threads);
  if (const auto* gemm = std::get_if<Gemm>(&problem.shape))
    return run_gemm(problem, *gemm, arrays, threads);
  if (const auto* fc = std::get_if<Fc>(&problem.shape)) {
    if (problem.pass != Pass::fwd) return fc_backward_reference(problem, arrays, threads);
    return run_conv(problem, as_conv(*fc), arrays, threads);
  }
  run_conv(problem, std::get<Conv>(problem.shape), arrays, threads);
}

}  // namespace loopbrick
