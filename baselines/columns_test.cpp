#include "baselines/columns.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

namespace loopbrick {
namespace {

/// What the im2col matrix holds for one output pixel, filter tap and channel.
float expected(const Conv& conv, const std::vector<float>& x, std::int64_t n, std::int64_t h,
               std::int64_t w, std::int64_t c) {
  if (h < 0 || h >= conv.h || w < 0 || w >= conv.w) return 0.0F;
  return x[static_cast<std::size_t>(((n * conv.h + h) * conv.w + w) * conv.c + c)];
}

/// Compares every element with its definition.
void check(const Conv& conv, int threads) {
  std::vector<float> x(static_cast<std::size_t>(conv.n * conv.h * conv.w * conv.c));
  std::iota(x.begin(), x.end(), 1.0F);
  const std::int64_t rows = conv.n * conv.p * conv.q;
  std::vector<float> got(static_cast<std::size_t>(rows * column_depth(conv)), NAN);
  fill_columns(conv, x.data(), conv.n, got.data(), threads);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    const std::int64_t c = index % conv.c;
    const std::int64_t tap = index / conv.c % (conv.r * conv.s);
    const std::int64_t pixel = index / column_depth(conv);
    const std::int64_t p = pixel / conv.q % conv.p;
    const std::int64_t h = p * conv.stride_h - conv.pad_h + tap / conv.s * conv.dilation_h;
    const std::int64_t w =
        pixel % conv.q * conv.stride_w - conv.pad_w + tap % conv.s * conv.dilation_w;
    ASSERT_EQ(got[i], expected(conv, x, pixel / (conv.p * conv.q), h, w, c)) << "at " << i;
  }
}

constexpr Conv kPadded{
    .n = 2, .c = 3, .h = 5, .w = 6, .k = 1, .p = 5, .q = 6, .r = 3, .s = 3, .pad_h = 1, .pad_w = 1};

TEST(Columns, PaddingIsZero) { check(kPadded, 2); }

TEST(Columns, DilationAndStrideSkipPixels) {
  Conv conv = kPadded;
  conv.dilation_h = conv.dilation_w = 2;
  conv.stride_h = 2;
  conv.stride_w = 3;
  conv.p = conv.q = 2;
  check(conv, 1);
}

TEST(Columns, FilterMayLieWhollyOutsideOfTheImage) {
  Conv conv = kPadded;
  conv.pad_h = conv.pad_w = 7;
  conv.p = conv.q = 20;
  check(conv, 2);
}

TEST(Columns, OnlyDense1x1NeedsNone) {
  Conv conv{.n = 1, .c = 8, .h = 4, .w = 4, .k = 8, .p = 4, .q = 4};
  EXPECT_TRUE(is_its_own_columns(conv));
  conv.p = 3;
  EXPECT_FALSE(is_its_own_columns(conv)) << "the last line is not an output";
  conv = {.n = 1, .c = 8, .h = 4, .w = 4, .k = 8, .p = 2, .q = 2, .stride_h = 2, .stride_w = 2};
  EXPECT_FALSE(is_its_own_columns(conv));
}

}  // namespace
}  // namespace loopbrick
