#pragma once
#include <cstdint>

#include "problems/problem.h"

namespace loopbrick {

/// Columns of one im2col row: r, s and c, the last one fastest.
std::int64_t column_depth(const Conv& conv);

/// Whether the channels-last input already is its im2col matrix: a dense 1x1 convolution.
bool is_its_own_columns(const Conv& conv);

/// The im2col matrix: one row of column_depth(conv) values per image and output pixel, padding as
/// zeros.
///
/// Shapes   x is `images` images of conv, channels last; columns is [images * P * Q][R * S * C].
/// Threads  uses `threads` OpenMP threads.
void fill_columns(const Conv& conv, const float* x, std::int64_t images, float* columns,
                  int threads);

/// The way back, col2im: x gets the sum of all the places that each of its values has in the
/// columns.
///
/// Shapes   as in fill_columns; x is overwritten.
/// Threads  uses `threads` OpenMP threads.
void add_columns(const Conv& conv, const float* columns, std::int64_t images, float* x,
                 int threads);

}  // namespace loopbrick
