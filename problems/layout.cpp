#include "problems/layout.h"

#include <algorithm>
#include <cassert>

namespace loopbrick {
namespace {

constexpr std::int64_t kPixels = 16;  ///< one cache line of a plain row

/// to[pixels][channels] = from[channels][pixels], or back: 16 pixels of all channels at a time.
template <typename Copy>
void walk_block(std::int64_t channels, std::int64_t pixels, Copy copy) {
  for (std::int64_t first = 0; first < pixels; first += kPixels) {
    const std::int64_t end = std::min(first + kPixels, pixels);
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      for (std::int64_t pixel = first; pixel < end; ++pixel) {
        copy(channel * pixels + pixel, pixel * channels + channel);
      }
    }
  }
}

/// Calls copy(index in the plain layout, index in the own) for every element.
template <typename Copy>
void walk(Layout layout, std::int64_t images, std::int64_t channels, std::int64_t pixels,
          int threads, Copy copy) {
  const std::int64_t block = channel_block(layout, channels);
  const std::int64_t blocks = images * (channels / block);
#pragma omp parallel for num_threads(threads)
  for (std::int64_t i = 0; i < blocks; ++i) {
    const std::int64_t begin = i * block * pixels;
    walk_block(block, pixels,
               [&](std::int64_t plain, std::int64_t own) { copy(begin + plain, begin + own); });
  }
}

}  // namespace

std::int64_t activation_elements(Layout, std::int64_t n, std::int64_t c, std::int64_t h,
                                 std::int64_t w) {
  return saturating_product(saturating_product(n, c), saturating_product(h, w));
}

void to_layout(Layout layout, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w,
               std::span<const float> plain, std::span<float> own, int threads) {
  assert(static_cast<std::int64_t>(plain.size()) == activation_elements(layout, n, c, h, w));
  assert(plain.size() == own.size());
  const float* const from = plain.data();
  float* const to = own.data();
  walk(layout, n, c, h * w, threads,
       [=](std::int64_t in_plain, std::int64_t in_own) { to[in_own] = from[in_plain]; });
}

void from_layout(Layout layout, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w,
                 std::span<const float> own, std::span<float> plain, int threads) {
  assert(static_cast<std::int64_t>(own.size()) == activation_elements(layout, n, c, h, w));
  assert(plain.size() == own.size());
  const float* const from = own.data();
  float* const to = plain.data();
  walk(layout, n, c, h * w, threads,
       [=](std::int64_t in_plain, std::int64_t in_own) { to[in_plain] = from[in_own]; });
}

}  // namespace loopbrick
