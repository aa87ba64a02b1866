#include "loops/slope_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace loopbrick {
namespace {

constexpr Activation kCurves[] = {Activation::relu, Activation::sigmoid, Activation::tanh,
                                  Activation::gelu_erf, Activation::gelu_tanh};

std::vector<float> slopes(Isa isa, Activation activation, const std::vector<float>& kept) {
  const std::vector<float> ones(kept.size(), 1.0F);
  std::vector<float> result(kept.size());
  slope_product(isa, activation)(ones.data(), kept.data(), result.data(),
                                 static_cast<std::int64_t>(kept.size()));
  return result;
}

TEST(SlopeProduct, SlopesAreThoseInDouble) {
  for (const Activation each : kCurves) {
    const float most = slope_follows_from_result(each) ? 1.0F : 15.0F;
    std::vector<float> kept;
    for (float x = -most; x <= most; x += most / 30000.0F) kept.push_back(x);
    for (const Isa isa : {Isa::ref, Isa::avx2, Isa::avx512}) {
      if (isa > best_isa()) continue;
      const std::vector<float> got = slopes(isa, each, kept);
      double worst = 0.0;
      for (std::size_t i = 0; i < kept.size(); ++i)
        worst = std::max(worst, std::abs(double{got[i]} - slope(each, double{kept[i]})));
      EXPECT_LE(worst, 0x1p-22) << to_string(each) << ' ' << to_string(isa);
    }
  }
}

TEST(SlopeProduct, EndsAreFiniteAndNotANumberStays) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> ends{-kInfinity, -1e30F, kInfinity, 1e30F,
                                std::numeric_limits<float>::quiet_NaN()};
  for (const Activation gelu : {Activation::gelu_erf, Activation::gelu_tanh}) {
    for (const Isa isa : {Isa::ref, Isa::avx2, Isa::avx512}) {
      if (isa > best_isa()) continue;
      const std::vector<float> got = slopes(isa, gelu, ends);
      EXPECT_NEAR(got[0], 0.0F, 1e-30F);
      EXPECT_NEAR(got[1], 0.0F, 1e-30F);
      EXPECT_EQ(got[2], 1.0F);
      EXPECT_EQ(got[3], 1.0F);
      EXPECT_TRUE(std::isnan(got[4]));
    }
  }
}

TEST(SlopeProduct, MultipliesWithTheGradientAndStopsAtTheCount) {
  const std::vector<float> dy{3.0F, -2.0F, 5.0F}, y{0.5F, 0.0F, 2.0F};
  std::vector<float> dz(3, -1.0F);
  slope_product(best_isa(), Activation::relu)(dy.data(), y.data(), dz.data(), 2);
  EXPECT_EQ(dz, (std::vector<float>{3.0F, 0.0F, -1.0F}));
}

}  // namespace
}  // namespace loopbrick
