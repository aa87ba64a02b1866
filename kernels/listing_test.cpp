#include "kernels/listing.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string_view>

namespace loopbrick {
namespace {

BrgemmSpec spec_of(Isa isa, int m, int n, int k) {
  BrgemmSpec spec;
  spec.isa = isa;
  spec.m = m;
  spec.n = n;
  spec.k = k;
  spec.a_row_stride = k;
  spec.ldb = n;
  spec.ldc = n;
  return spec;
}

int count(std::string_view text, std::string_view word) {
  int found = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + 1)) {
    ++found;
  }
  return found;
}

TEST(Listing, OneTripOf16StepsHasOneLoadABroadcastAndNoWaste) {
  if (best_isa() < Isa::avx512) GTEST_SKIP() << "needs avx512";
  const std::string text = listing(BrgemmKernel(spec_of(Isa::avx512, 6, 64, 64)));
  EXPECT_EQ(count(text, "vfmadd231ps"), 16 * 24);
  EXPECT_EQ(count(text, "vbroadcastss"), 16 * 6);
  EXPECT_EQ(count(text, ",ZMMWORD PTR"), 16 * 4);
  EXPECT_EQ(count(text, "push"), 0);
}

TEST(Listing, ASingleVectorTakesItsBroadcastsFromMemory) {
  if (best_isa() < Isa::avx512) GTEST_SKIP() << "needs avx512";
  const std::string text = listing(BrgemmKernel(spec_of(Isa::avx512, 28, 16, 16)));
  EXPECT_EQ(count(text, "vfmadd231ps"), 16 * 28);
  EXPECT_EQ(count(text, "vbroadcastss"), 0);
}

TEST(Listing, ShortSumsHaveNoLoopOverK) {
  if (best_isa() < Isa::avx512) GTEST_SKIP() << "needs avx512";
  const std::string text = listing(BrgemmKernel(spec_of(Isa::avx512, 6, 64, 3)));
  EXPECT_EQ(count(text, "vfmadd231ps"), 3 * 24);
  EXPECT_EQ(count(text, "jne"), 1);
}

TEST(Listing, Avx2CodeHasNothingOfAvx512) {
  if (best_isa() < Isa::avx2) GTEST_SKIP() << "needs avx2";
  for (const int n : {3, 64, 77}) {
    const std::string text = listing(BrgemmKernel(spec_of(Isa::avx2, 14, n, 40)));
    EXPECT_GT(count(text, "ymm"), 0);
    EXPECT_EQ(count(text, "zmm"), 0);
    EXPECT_EQ(count(text, "ymm16"), 0);
    EXPECT_EQ(count(text, "{k"), 0);
    EXPECT_EQ(count(text, "(bad)"), 0);
  }
}

TEST(Listing, EndsWithTheReturn) {
  if (best_isa() < Isa::avx2) GTEST_SKIP() << "needs avx2";
  const std::string text = listing(BrgemmKernel(spec_of(best_isa(), 2, 11, 2)));
  EXPECT_EQ(count(text, "vzeroupper"), 1);
  EXPECT_EQ(text.substr(text.rfind('\t')).substr(0, 4), "\tret");
}

TEST(Listing, TheReferenceHasNone) {
  EXPECT_THROW(listing(BrgemmKernel(spec_of(Isa::ref, 1, 1, 1))), std::invalid_argument);
}

TEST(Listing, CodeThatCannotBeWrittenIsReported) {
  const BrgemmKernel kernel(spec_of(best_isa(), 1, 1, 1));
  EXPECT_THROW(write_code(kernel, "/nowhere/code"), std::runtime_error);
}

TEST(Listing, TheFileHoldsExactlyTheCode) {
  const BrgemmKernel kernel(spec_of(best_isa(), 1, 1, 1));
  const auto file = std::filesystem::path(testing::TempDir()) / "code";
  write_code(kernel, file);
  std::ifstream in(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  EXPECT_TRUE(std::equal(
      bytes.begin(), bytes.end(), kernel.code().begin(), kernel.code().end(),
      [](char left, std::uint8_t right) { return static_cast<std::uint8_t>(left) == right; }));
}

}  // namespace
}  // namespace loopbrick
