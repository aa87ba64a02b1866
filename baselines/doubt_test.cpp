#include "baselines/doubt.h"

#include <gtest/gtest.h>

namespace loopbrick {
namespace {

TEST(Doubt, IsaIsReadFromTheNamesThatLibrariesGive) {
  EXPECT_EQ(isa_named("brgconv:avx512_core"), Isa::avx512);
  EXPECT_EQ(isa_named("jit_1x1:avx512_common"), Isa::avx512);
  EXPECT_EQ(isa_named("jit:avx2"), Isa::avx2);
  EXPECT_EQ(isa_named("jit:avx"), Isa::ref);
  EXPECT_EQ(isa_named("jit:sse41"), Isa::ref);
  EXPECT_EQ(isa_named("sgemm:SkylakeX"), Isa::avx512);
  EXPECT_EQ(isa_named("sgemm:Cooperlake"), Isa::avx512);
  EXPECT_EQ(isa_named("sgemm:Haswell"), Isa::avx2);
  EXPECT_EQ(isa_named("sgemm:Zen"), Isa::avx2);
  EXPECT_EQ(isa_named("sgemm:Nehalem"), Isa::ref);
  EXPECT_EQ(isa_named("gemm:jit"), std::nullopt);
}

TEST(Doubt, ReferencesAreFlaggedOnAnyCpu) {
  EXPECT_EQ(doubt("ref:any", Isa::avx512), "ref");
  EXPECT_EQ(doubt("ref", Isa::ref), "ref");
}

TEST(Doubt, AnotherIsaThanWantedIsFlagged) {
  EXPECT_EQ(doubt("sgemm:Haswell", Isa::avx512), "avx2, below the avx512 wanted");
  EXPECT_EQ(doubt("jit:sse41", Isa::avx2), "less than avx2, below the avx2 wanted");
  EXPECT_EQ(doubt("brgconv:avx512_core", Isa::avx2), "avx512, above the avx2 wanted");
}

TEST(Doubt, WhatIsAsWantedOrUnknownIsNotFlagged) {
  EXPECT_EQ(doubt("brgconv:avx512_core", Isa::avx512), "");
  EXPECT_EQ(doubt("gebp:avx2", Isa::avx2), "");
  EXPECT_EQ(doubt("gemm:jit", Isa::avx512), "");
}

TEST(Doubt, NobodyIsAskedForMoreThanTheCpuHas) {
  EXPECT_EQ(wanted_isa({.isa = Isa::avx512}), best_isa());
  EXPECT_EQ(wanted_isa({.isa = Isa::ref}), Isa::ref);
}

}  // namespace
}  // namespace loopbrick
