#pragma once
#include <cstdint>
#include <span>

#include "problems/problem.h"

namespace loopbrick {

/// Elements of an activation of n images, c channels, h x w pixels in this layout (INT64_MAX where
/// it does not fit). No layout pads: the channel block divides the channels.
std::int64_t activation_elements(Layout layout, std::int64_t n, std::int64_t c, std::int64_t h,
                                 std::int64_t w);

/// Copies an activation from the plain layout NCHW to [N][C/cb][H][W][cb], cb =
/// channel_block(layout, c): for nhwc that is NHWC. from_layout is the inverse.
///
/// Needs    both spans hold activation_elements(layout, n, c, h, w) elements and do not overlap.
/// Threads  `threads` OpenMP threads share the channel blocks of all images.
void to_layout(Layout layout, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w,
               std::span<const float> plain, std::span<float> own, int threads);
void from_layout(Layout layout, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w,
                 std::span<const float> own, std::span<float> plain, int threads);

}  // namespace loopbrick
