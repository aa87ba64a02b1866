#include "problems/layout.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace loopbrick {
namespace {

std::vector<float> counted(std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

TEST(Layout, ConversionsAreInverses) {
  for (const Layout layout : {Layout::blocked, Layout::nhwc}) {
    for (const std::int64_t channels : {1, 3, 6, 17, 28, 64, 130, 192}) {
      for (const int threads : {1, 3}) {
        const std::vector<float> plain = counted(2 * channels * 5 * 7);
        std::vector<float> own(plain.size(), -1.0F), back(plain.size(), -1.0F);
        to_layout(layout, 2, channels, 5, 7, plain, own, threads);
        from_layout(layout, 2, channels, 5, 7, own, back, threads);
        EXPECT_EQ(back, plain) << channels;
      }
    }
  }
}

TEST(Layout, EveryElementLiesWhereTheLayoutSays) {
  constexpr std::int64_t kN = 2, kC = 96, kH = 3, kW = 11;  // 96 channels: blocks of 32
  const std::vector<float> plain = counted(kN * kC * kH * kW);
  std::vector<float> blocked(plain.size()), innermost(plain.size());
  to_layout(Layout::blocked, kN, kC, kH, kW, plain, blocked, 2);
  to_layout(Layout::nhwc, kN, kC, kH, kW, plain, innermost, 2);
  for (std::int64_t n = 0; n < kN; ++n)
    for (std::int64_t c = 0; c < kC; ++c)
      for (std::int64_t h = 0; h < kH; ++h)
        for (std::int64_t w = 0; w < kW; ++w) {
          const float want = static_cast<float>(((n * kC + c) * kH + h) * kW + w);
          const std::int64_t in_blocks = (((n * 3 + c / 32) * kH + h) * kW + w) * 32 + c % 32;
          const std::int64_t last = ((n * kH + h) * kW + w) * kC + c;
          ASSERT_EQ(blocked[static_cast<std::size_t>(in_blocks)], want);
          ASSERT_EQ(innermost[static_cast<std::size_t>(last)], want);
        }
}

TEST(Layout, ElementsSaturate) {
  EXPECT_EQ(activation_elements(Layout::blocked, 1, 28, 514, 131584), 28LL * 514 * 131584);
  EXPECT_EQ(activation_elements(Layout::nhwc, INT32_MAX, INT32_MAX, INT32_MAX, 1), INT64_MAX);
}

}  // namespace
}  // namespace loopbrick
