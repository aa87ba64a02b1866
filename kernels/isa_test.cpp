#include "kernels/isa.h"

#include <gtest/gtest.h>

#include "kernels/text.h"

namespace loopbrick {
namespace {

TEST(Isa, TextIsInvertedByParse) {
  for (const Isa isa : {Isa::ref, Isa::avx2, Isa::avx512}) {
    EXPECT_EQ(parse_isa(to_string(isa)), isa);
  }
}

TEST(Isa, UnknownTextIsNamed) {
  for (const std::string_view text : {"sse42", "avx", "", "AVX2", "avx512_core"}) {
    EXPECT_THROW(parse_isa(text), ParseError) << text;
  }
}

TEST(Isa, LanesGrowWithTheIsa) {
  EXPECT_EQ(lanes(Isa::ref), 1);
  EXPECT_EQ(lanes(Isa::avx2), 8);
  EXPECT_EQ(lanes(Isa::avx512), 16);
}

/// GCC's own detection is a second opinion, with the operating system's part in it.
TEST(Isa, BestAgreesWithTheCompilersDetection) {
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  EXPECT_EQ(best_isa() >= Isa::avx2, avx2);
  EXPECT_EQ(best_isa() == Isa::avx512, avx2 && avx512);
}

}  // namespace
}  // namespace loopbrick
