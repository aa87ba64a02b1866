#include "baselines/columns.h"

#include <algorithm>

namespace loopbrick {
namespace {

/// One filter row of one output pixel: S * C values from line `x` of the image, from column `w` on.
void copy_filter_row(const Conv& conv, const float* x, std::int64_t w, float* to) {
  for (std::int64_t s = 0; s < conv.s; ++s, w += conv.dilation_w, to += conv.c) {
    if (w < 0 || w >= conv.w) {
      std::fill_n(to, conv.c, 0.0F);
    } else {
      std::copy_n(x + w * conv.c, conv.c, to);
    }
  }
}

/// The same where the filter is dense: what lies inside the line is one contiguous piece.
void copy_dense_filter_row(const Conv& conv, const float* x, std::int64_t w, float* to) {
  const std::int64_t first = std::clamp<std::int64_t>(-w, 0, conv.s);
  const std::int64_t last = std::clamp<std::int64_t>(conv.w - w, first, conv.s);
  to = std::fill_n(to, first * conv.c, 0.0F);
  to = std::copy_n(x + (w + first) * conv.c, (last - first) * conv.c, to);
  std::fill_n(to, (conv.s - last) * conv.c, 0.0F);
}

/// The row of one output pixel.
void fill_row(const Conv& conv, const float* image, std::int64_t p, std::int64_t q, float* to) {
  const std::int64_t w = q * conv.stride_w - conv.pad_w;
  for (std::int64_t r = 0; r < conv.r; ++r, to += conv.s * conv.c) {
    const std::int64_t h = p * conv.stride_h - conv.pad_h + r * conv.dilation_h;
    if (h < 0 || h >= conv.h) {
      std::fill_n(to, conv.s * conv.c, 0.0F);
    } else if (conv.dilation_w == 1) {
      copy_dense_filter_row(conv, image + h * conv.w * conv.c, w, to);
    } else {
      copy_filter_row(conv, image + h * conv.w * conv.c, w, to);
    }
  }
}

/// Adds what filter row r of the output pixels of one line holds for one line of the input.
void add_filter_row(const Conv& conv, const float* columns, std::int64_t r, float* line) {
  for (std::int64_t q = 0; q < conv.q; ++q, columns += column_depth(conv)) {
    const float* from = columns + r * conv.s * conv.c;
    for (std::int64_t s = 0; s < conv.s; ++s, from += conv.c) {
      const std::int64_t w = q * conv.stride_w - conv.pad_w + s * conv.dilation_w;
      if (w < 0 || w >= conv.w) continue;
      float* const to = line + w * conv.c;
      for (std::int64_t c = 0; c < conv.c; ++c) to[c] += from[c];
    }
  }
}

}  // namespace

std::int64_t column_depth(const Conv& conv) { return conv.r * conv.s * conv.c; }

bool is_its_own_columns(const Conv& conv) {
  return conv.r == 1 && conv.s == 1 && conv.pad_h == 0 && conv.pad_w == 0 && conv.stride_h == 1 &&
         conv.stride_w == 1 && conv.p == conv.h && conv.q == conv.w;
}

void fill_columns(const Conv& conv, const float* x, std::int64_t images, float* columns,
                  int threads) {
  const std::int64_t depth = column_depth(conv);
#pragma omp parallel for collapse(2) schedule(static) num_threads(threads)
  for (std::int64_t n = 0; n < images; ++n) {
    for (std::int64_t p = 0; p < conv.p; ++p) {
      const float* image = x + n * conv.h * conv.w * conv.c;
      float* row = columns + (n * conv.p + p) * conv.q * depth;
      for (std::int64_t q = 0; q < conv.q; ++q) fill_row(conv, image, p, q, row + q * depth);
    }
  }
}

void add_columns(const Conv& conv, const float* columns, std::int64_t images, float* x,
                 int threads) {
  const std::int64_t line_floats = conv.w * conv.c;
#pragma omp parallel for collapse(2) schedule(static) num_threads(threads)
  for (std::int64_t n = 0; n < images; ++n) {
    for (std::int64_t h = 0; h < conv.h; ++h) {
      float* const line = x + (n * conv.h + h) * line_floats;
      std::fill_n(line, line_floats, 0.0F);
      for (std::int64_t r = 0; r < conv.r; ++r) {
        const std::int64_t at = h + conv.pad_h - r * conv.dilation_h;
        if (at < 0 || at % conv.stride_h != 0 || at / conv.stride_h >= conv.p) continue;
        const std::int64_t row = (n * conv.p + at / conv.stride_h) * conv.q;
        add_filter_row(conv, columns + row * column_depth(conv), r, line);
      }
    }
  }
}

}  // namespace loopbrick
