#include "problems/operands.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace loopbrick {
namespace {

/// Arrays with memory of their own.
class Owned {
 public:
  explicit Owned(const Problem& problem) {
    for (const Operand& operand : operands(problem)) {
      values_.emplace_back(static_cast<std::size_t>(elements(operand)), 7.0F);
    }
  }

  Arrays arrays() { return {values_.begin(), values_.end()}; }
  std::vector<float>& operator[](std::size_t i) { return values_[i]; }
  std::vector<float>& result() { return values_.back(); }

 private:
  std::vector<std::vector<float>> values_;
};

std::string names_of(const char* text) {
  std::string names;
  for (const Operand& operand : operands(parse_problem(text))) {
    names += (operand.output ? " ->" : " ") + std::string(operand.name) +
             std::to_string(elements(operand));
  }
  return names;
}

TEST(Operands, FollowTheProblem) {
  EXPECT_EQ(names_of("mb2ic3ih5oc4kh3ph1"), " x150 w108 ->y200");
  EXPECT_EQ(names_of("mb2ic3ih5oc4kh3ph1+bias"), " x150 w108 b4 ->y200");
  EXPECT_EQ(names_of("bwd_d mb2ic3ih5oc4kh3ph1"), " dy200 w108 ->dx150");
  EXPECT_EQ(names_of("bwd_w mb2ic3ih5oc4kh3ph1"), " x150 dy200 ->dw108");
  EXPECT_EQ(names_of("gemm 2x3:3x5bs7+bias"), " a42 b105 bias5 ->c10");
  EXPECT_EQ(names_of("gemm 2x0:0x5"), " a0 b0 ->c10");
  EXPECT_EQ(names_of("fc mb2ic3oc4"), " x6 w12 ->y8");
  EXPECT_EQ(operands(parse_problem("g2mb1ic4ih5oc6kh3"))[1].extents,
            (std::vector<std::int64_t>{2, 3, 2, 3, 3}));
  EXPECT_EQ(total_bytes(parse_problem("fc mb2ic3oc4")), 4 * 26);
}

TEST(Operands, SumLengthFollowsThePass) {
  EXPECT_EQ(sum_length(parse_problem("g2mb2ic4ih5oc6kh3ph1")), 2 * 9);
  EXPECT_EQ(sum_length(parse_problem("bwd_d mb2ic4ih5oc6kh3ph1")), 6 * 9);
  EXPECT_EQ(sum_length(parse_problem("bwd_w mb2ic4ih5oc6kh3ph1")), 2 * 25);
  EXPECT_EQ(sum_length(parse_problem("bwd_d g2mb2ic4ih5oc6kh3ph1")), 3 * 9);
  EXPECT_EQ(sum_length(parse_problem("bwd_w g2mb2ic4ih5oc6oh3kh3ph1sh2")), 2 * 9);
  EXPECT_EQ(sum_length(parse_problem("gemm 2x3:3x5bs7")), 21);
}

TEST(Fill, IsAFunctionOfTheSeed) {
  const Problem problem = parse_problem("mb1ic3ih5oc4kh3");
  Owned first(problem), again(problem), other(problem);
  fill(problem, Fill::uniform, 1, first.arrays());
  fill(problem, Fill::uniform, 1, again.arrays());
  fill(problem, Fill::uniform, 2, other.arrays());
  EXPECT_EQ(first[0], again[0]);
  EXPECT_NE(first[0], other[0]);
  const std::size_t shorter = std::min(first[0].size(), first[1].size());
  EXPECT_FALSE(std::equal(first[0].begin(), first[0].begin() + static_cast<std::ptrdiff_t>(shorter),
                          first[1].begin()));
  for (const float value : first.result()) EXPECT_TRUE(std::isnan(value));
}

TEST(Fill, KindsHaveTheirRanges) {
  const Problem problem = parse_problem("mb1ic64ih16oc4kh3");
  Owned owned(problem);
  fill(problem, Fill::integers, 1, owned.arrays());
  EXPECT_EQ(std::set<float>(owned[0].begin(), owned[0].end()), (std::set<float>{-2, -1, 0, 1, 2}));
  fill(problem, Fill::ones, 1, owned.arrays());
  EXPECT_EQ(std::set<float>(owned[0].begin(), owned[0].end()), std::set<float>{1});
  fill(problem, Fill::uniform, 1, owned.arrays());
  EXPECT_LT(*std::max_element(owned[0].begin(), owned[0].end()), 1.0F);
  EXPECT_GT(*std::max_element(owned[0].begin(), owned[0].end()), 0.99F);
  EXPECT_LT(*std::min_element(owned[0].begin(), owned[0].end()), -0.99F);
  fill(problem, Fill::denormal, 1, owned.arrays());
  for (const float value : owned[0]) EXPECT_EQ(std::fpclassify(value), FP_SUBNORMAL);
}

TEST(Fill, IntegersOfLongSumsAreSmaller) {
  const Problem problem = parse_problem("gemm 1x4194304:4194304x1");
  Owned owned(problem);
  fill(problem, Fill::integers, 1, owned.arrays());
  EXPECT_EQ(std::set<float>(owned[0].begin(), owned[0].end()), (std::set<float>{-1, 0, 1}));
}

TEST(Fill, TextsRoundTrip) {
  for (const Fill kind : {Fill::integers, Fill::uniform, Fill::ones, Fill::denormal}) {
    EXPECT_EQ(parse_fill(to_string(kind)), kind);
  }
  EXPECT_THROW(parse_fill("random"), ParseError);
}

/// The sum in float32, one product after another: what a correct kernel may compute.
std::vector<float> float_gemm(const Gemm& gemm, Owned& operands) {
  std::vector<float> c(static_cast<std::size_t>(gemm.m * gemm.n), 0.0F);
  for (std::int64_t m = 0; m < gemm.m; ++m) {
    for (std::int64_t n = 0; n < gemm.n; ++n) {
      float& sum = c[static_cast<std::size_t>(m * gemm.n + n)];
      for (std::int64_t k = 0; k < gemm.k; ++k) {
        sum += operands[0][static_cast<std::size_t>(m * gemm.k + k)] *
               operands[1][static_cast<std::size_t>(k * gemm.n + n)];
      }
    }
  }
  return c;
}

TEST(Tolerance, LetsFloatSumsPass) {
  for (const char* text :
       {"gemm 64x1:1x512", "gemm 64x4:4x512", "gemm 64x64:64x128", "gemm 32x4608:4608x32"}) {
    const Problem problem = parse_problem(text);
    for (const Fill kind : {Fill::integers, Fill::uniform, Fill::ones, Fill::denormal}) {
      Owned want(problem);
      fill(problem, kind, 3, want.arrays());
      Owned got = want;
      reference(problem, want.arrays(), 2);
      got.result() = float_gemm(std::get<Gemm>(problem.shape), got);
      EXPECT_TRUE(compare(problem, kind, got.arrays(), want.arrays()).empty())
          << text << ' ' << to_string(kind);
    }
  }
}

TEST(Tolerance, SeesOneMissingProduct) {
  for (const char* text :
       {"gemm 8x1:1x16", "gemm 8x64:64x16", "gemm 8x4608:4608x16", "gemm 8x100000:100000x16"}) {
    const Problem problem = parse_problem(text);
    const Gemm gemm = std::get<Gemm>(problem.shape);
    for (const Fill kind : {Fill::integers, Fill::uniform, Fill::ones}) {
      Owned want(problem);
      fill(problem, kind, 3, want.arrays());
      reference(problem, want.arrays(), 2);
      Owned got = want;
      for (std::size_t i = 0; i < got.result().size(); ++i) {  // the last k is left out
        const std::size_t row = i / static_cast<std::size_t>(gemm.n),
                          col = i % static_cast<std::size_t>(gemm.n);
        const std::size_t last = static_cast<std::size_t>(gemm.k) - 1;
        got.result()[i] -= got[0][row * static_cast<std::size_t>(gemm.k) + last] *
                           got[1][last * static_cast<std::size_t>(gemm.n) + col];
      }
      const auto found = compare(problem, kind, got.arrays(), want.arrays());
      ASSERT_EQ(found.size(), 1U) << text << ' ' << to_string(kind);
      EXPECT_GT(found[0].wrong, 128 / 3) << text << ' ' << to_string(kind);
    }
  }
}

/// One dy less is one product less in the c elements of dx or dw that it goes into.
TEST(Tolerance, SeesOneMissingProductOfAGradient) {
  for (const char* text : {"bwd_d mb1ic60ih3oc70kh1ph0", "bwd_d mb1ic60ih1oc4608kh1ph0",
                           "bwd_w mb2ic60ih5oc2kh1ph0", "bwd_w mb4ic60ih56oc2kh1ph0"}) {
    const Problem problem = parse_problem(text);
    const std::size_t dy = problem.pass == Pass::bwd_d ? 0 : 1;
    for (const Fill kind : {Fill::integers, Fill::uniform, Fill::ones}) {
      Owned want(problem);
      fill(problem, kind, 3, want.arrays());
      Owned got = want;
      reference(problem, want.arrays(), 2);
      *std::ranges::find_if(got[dy], [](float value) { return std::abs(value) > 0.3F; }) = 0.0F;
      reference(problem, got.arrays(), 2);
      const auto found = compare(problem, kind, got.arrays(), want.arrays());
      ASSERT_EQ(found.size(), 1U) << text << ' ' << to_string(kind);
      EXPECT_GT(found[0].wrong, 60 / 3) << text << ' ' << to_string(kind);
    }
  }
}

TEST(Tolerance, OnesMayStopGrowing) {
  EXPECT_EQ(tolerance(parse_problem("gemm 1x16777216:16777216x1"), Fill::ones), 0.0);
  EXPECT_EQ(tolerance(parse_problem("gemm 1x16777220:16777220x1"), Fill::ones), 4.0);
}

TEST(Compare, NamesTheFirstElementAndCountsTheRest) {
  const Problem problem = parse_problem("mb2ic3ih5oc4kh3ph1");
  Owned want(problem);
  std::ranges::fill(want.result(), 5.0F);
  Owned got = want;
  EXPECT_TRUE(compare(problem, Fill::integers, got.arrays(), want.arrays()).empty());
  got.result()[100 + 75 + 23] = 3.0F;  // y[1][3][4][3]
  got.result()[199] = std::numeric_limits<float>::quiet_NaN();
  const auto found = compare(problem, Fill::integers, got.arrays(), want.arrays());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(to_string(found[0], problem),
            "y[1][3][4][3] is 3, should be 5 (2 of 200 elements are off)");
}

TEST(Compare, NanAndInfinityAreAlwaysOff) {
  const Problem problem = parse_problem("gemm 1x1:1x3");
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Owned want(problem), got(problem);
  want.result() = {1.0F, 1.0F, inf};
  got.result() = {nan, inf, inf};
  const auto found = compare(problem, Fill::uniform, got.arrays(), want.arrays());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].wrong, 2);
  EXPECT_EQ(found[0].index, 0);
  got.result() = {1.0F, 1.0F, -inf};
  EXPECT_EQ(compare(problem, Fill::uniform, got.arrays(), want.arrays()).size(), 1U);
}

TEST(Compare, IntegersMustBeExact) {
  const Problem problem = parse_problem("gemm 1x1:1x1");
  Owned want(problem), got(problem);
  want.result() = {1.0F};
  got.result() = {std::nextafter(1.0F, 2.0F)};
  EXPECT_EQ(compare(problem, Fill::integers, got.arrays(), want.arrays()).size(), 1U);
  EXPECT_TRUE(compare(problem, Fill::uniform, got.arrays(), want.arrays()).empty());
}

TEST(Compare, FlushedDenormalsAreRight) {
  const Problem problem = parse_problem("gemm 1x1:1x2");
  Owned want(problem), got(problem);
  want.result() = {1e-42F, 0.0F};
  got.result() = {0.0F, 1e-30F};
  const auto found = compare(problem, Fill::denormal, got.arrays(), want.arrays());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].index, 1);
}

}  // namespace
}  // namespace loopbrick
