#include "problems/conv_backward_reference.h"

#include <algorithm>

#include "problems/reference_tile.h"

namespace loopbrick {
namespace {

/// Height or width: how pixels of the input and of the output meet through a tap of the filter.
struct Side {
  std::int64_t inputs, outputs, stride, pad, dilation;

  /// The input pixel under `tap` of output pixel `output`, or -1 in the padding.
  std::int64_t input(std::int64_t output, std::int64_t tap) const {
    const std::int64_t at = output * stride - pad + tap * dilation;
    return at < inputs ? std::max<std::int64_t>(at, -1) : -1;
  }

  /// The output pixel that sees input pixel `input` through `tap`, or -1 if none does.
  std::int64_t output(std::int64_t input, std::int64_t tap) const {
    const std::int64_t at = input + pad - tap * dilation;
    if (at < 0 || at % stride != 0 || at / stride >= outputs) return -1;
    return at / stride;
  }
};

/// What both passes know of one convolution.
struct Backward {
  explicit Backward(const Conv& of)
      : conv(of),
        height{of.h, of.p, of.stride_h, of.pad_h, of.dilation_h},
        width{of.w, of.q, of.stride_w, of.pad_w, of.dilation_w} {}

  const Conv& conv;
  Side height, width;
  std::int64_t inputs = conv.c / conv.groups;
  std::int64_t features = conv.k / conv.groups;
  std::int64_t taps = conv.r * conv.s;
  std::int64_t in_pixels = conv.h * conv.w;
  std::int64_t out_pixels = conv.p * conv.q;
};

/// The dy that one input pixel of one feature's plane gets through the taps; 0 where none meets it.
void gather_taps(const Backward& b, const float* plane, std::int64_t pixel, double* to) {
  for (std::int64_t r = 0; r < b.conv.r; ++r) {
    const std::int64_t p = b.height.output(pixel / b.conv.w, r);
    for (std::int64_t s = 0; s < b.conv.s; ++s, to += kTileRows) {
      const std::int64_t q = b.width.output(pixel % b.conv.w, s);
      *to = p < 0 || q < 0 ? 0.0 : static_cast<double>(plane[p * b.conv.q + q]);
    }
  }
}

/// One line of one input channel as one tap sees it from the output pixels [q, q + count); null:
/// the whole line is padding.
void gather_line(const Backward& b, const float* line, std::int64_t s, std::int64_t q,
                 std::int64_t count, double* to) {
  for (std::int64_t i = 0; i < count; ++i, to += kTileRows) {
    const std::int64_t w = b.width.input(q + i, s);
    *to = line == nullptr || w < 0 ? 0.0 : static_cast<double>(line[w]);
  }
}

/// A row of the filter's gradient, c, r and s, as the input under that tap: one value for each of
/// the output pixels [first, first + count) of all images.
void gather_pixels(const Backward& b, const float* x, std::int64_t channel, std::int64_t tap,
                   std::int64_t first, std::int64_t count, double* to) {
  for (std::int64_t d = first; d < first + count;) {
    const std::int64_t q = d % b.conv.q;
    const std::int64_t run = std::min(b.conv.q - q, first + count - d);
    const std::int64_t h = b.height.input(d % b.out_pixels / b.conv.q, tap / b.conv.s);
    const float* const plane = x + (d / b.out_pixels * b.conv.c + channel) * b.in_pixels;
    gather_line(b, h < 0 ? nullptr : plane + h * b.conv.w, tap % b.conv.s, q, run,
                to + (d - first) * kTileRows);
    d += run;
  }
}

}  // namespace

/// A row is an input pixel, a column an input channel, the depth walks k, r, s.
void conv_backward_data(const Conv& conv, const Arrays& arrays, int threads) {
  const Backward b(conv);
  const float* const dy = arrays[0].data();
  float* const dx = arrays[2].data();
  const std::int64_t rows = conv.n * b.in_pixels;
  const auto gather = [&](std::int64_t group, std::int64_t row, std::int64_t first,
                          std::int64_t count, double* piece) {
    for (std::int64_t d = 0; d < count; d += b.taps) {
      const std::int64_t feature = group * b.features + (first + d) / b.taps;
      for (std::int64_t i = 0; i < std::min(kTileRows, rows - row); ++i) {
        const std::int64_t image = (row + i) / b.in_pixels;
        gather_taps(b, dy + (image * conv.k + feature) * b.out_pixels, (row + i) % b.in_pixels,
                    piece + d * kTileRows + i);
      }
    }
  };
  const auto store = [&](std::int64_t group, std::int64_t row, std::int64_t col, double sum) {
    const std::int64_t plane = row / b.in_pixels * conv.c + group * b.inputs + col;
    dx[plane * b.in_pixels + row % b.in_pixels] = static_cast<float>(sum);
  };
  run({.groups = conv.groups,
       .rows = rows,
       .cols = b.inputs,
       .depth = b.features * b.taps,
       .depth_multiple = b.taps,
       .b = arrays[1].data(),
       .b_group_stride = b.features * b.inputs * b.taps,
       .b_block = b.taps,
       .b_block_stride = b.inputs * b.taps,
       .b_depth_stride = 1,
       .b_col_stride = b.taps,
       .a = gather,
       .store = store},
      threads);
}

/// A row is c, r, s of the filter, a column an output feature, the depth walks n, p, q.
void conv_backward_weights(const Conv& conv, const Arrays& arrays, int threads) {
  const Backward b(conv);
  const float* const x = arrays[0].data();
  float* const dw = arrays[2].data();
  const std::int64_t rows = b.inputs * b.taps;
  const auto gather = [&](std::int64_t group, std::int64_t row, std::int64_t first,
                          std::int64_t count, double* piece) {
    for (std::int64_t i = 0; i < std::min(kTileRows, rows - row); ++i) {
      const std::int64_t channel = group * b.inputs + (row + i) / b.taps;
      gather_pixels(b, x, channel, (row + i) % b.taps, first, count, piece + i);
    }
  };
  const auto store = [&](std::int64_t group, std::int64_t row, std::int64_t col, double sum) {
    dw[(group * b.features + col) * rows + row] = static_cast<float>(sum);
  };
  run({.groups = conv.groups,
       .rows = rows,
       .cols = b.features,
       .depth = conv.n * b.out_pixels,
       .b = arrays[1].data(),
       .b_group_stride = b.features * b.out_pixels,
       .b_block = b.out_pixels,
       .b_block_stride = conv.k * b.out_pixels,
       .b_depth_stride = 1,
       .b_col_stride = b.out_pixels,
       .a = gather,
       .store = store},
      threads);
}

}  // namespace loopbrick
