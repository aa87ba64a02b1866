#include "kernels/activation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace loopbrick {
namespace {

constexpr Activation kAll[] = {Activation::none, Activation::relu,     Activation::sigmoid,
                               Activation::tanh, Activation::gelu_erf, Activation::gelu_tanh};

TEST(Activation, NamesAreFoundAgain) {
  for (const Activation each : kAll) {
    if (each == Activation::none) continue;
    EXPECT_EQ(find_activation(to_string(each)), each);
  }
  EXPECT_EQ(find_activation("logistic"), Activation::sigmoid);
  EXPECT_EQ(find_activation("gelu"), Activation::gelu_erf);
  EXPECT_FALSE(find_activation("none"));
  EXPECT_FALSE(find_activation("gelu_"));
}

/// Values of both as printed by others to 16 digits.
TEST(Activation, GeluHasItsKnownValues) {
  EXPECT_NEAR(activated(Activation::gelu_erf, 1.0), 0.8413447460685429, 1e-15);
  EXPECT_NEAR(activated(Activation::gelu_erf, -2.0), -0.0455002638963584, 1e-15);
  EXPECT_NEAR(activated(Activation::gelu_tanh, 1.0), 0.8411919906082768, 1e-15);
  EXPECT_NEAR(activated(Activation::gelu_tanh, -2.0), -0.0454023059122700, 1e-13);
}

TEST(Activation, EndsAreFiniteAndNotANumberStays) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const Activation each : kAll) {
    EXPECT_TRUE(std::isnan(activated(each, std::numeric_limits<double>::quiet_NaN())));
    if (each == Activation::none) continue;
    EXPECT_LE(std::abs(activated(each, -kInfinity)), 1.0) << to_string(each);
  }
  EXPECT_EQ(activated(Activation::gelu_erf, -kInfinity), 0.0);
  EXPECT_EQ(activated(Activation::gelu_tanh, kInfinity), kInfinity);
}

TEST(Activation, SlopesAreThoseOfFiniteDifferences) {
  constexpr double kStep = 1e-5;
  for (const Activation each : kAll) {
    for (double x = -8.01; x < 8.0; x += 0.37) {
      const double kept = slope_follows_from_result(each) ? activated(each, x) : x;
      const double rise = activated(each, x + kStep) - activated(each, x - kStep);
      EXPECT_NEAR(slope(each, kept), rise / (2.0 * kStep), 1e-9) << to_string(each) << x;
    }
  }
}

TEST(Activation, SlopesOfGeluHaveEnds) {
  for (const Activation gelu : {Activation::gelu_erf, Activation::gelu_tanh}) {
    EXPECT_EQ(slope(gelu, std::numeric_limits<double>::infinity()), 1.0);
    EXPECT_EQ(slope(gelu, -std::numeric_limits<double>::infinity()), 0.0);
    EXPECT_TRUE(std::isnan(slope(gelu, std::numeric_limits<double>::quiet_NaN())));
  }
}

TEST(Activation, NoneIsSteeperThanSaid) {
  constexpr double kStep = 1e-4;
  for (const Activation each : kAll) {
    double steepest = 0.0;
    for (double x = -9.0; x < 9.0; x += kStep) {
      const double slope = (activated(each, x + kStep) - activated(each, x)) / kStep;
      steepest = std::max(steepest, std::abs(slope));
    }
    EXPECT_LE(steepest, steepest_slope(each) + 1e-9) << to_string(each);
  }
}

}  // namespace
}  // namespace loopbrick
