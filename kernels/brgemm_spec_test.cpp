#include "kernels/brgemm_spec.h"

#include <gtest/gtest.h>

#include <set>

#include "kernels/brgemm_kernel.h"

namespace loopbrick {
namespace {

BrgemmSpec possible_spec(Isa isa = Isa::avx512) {
  BrgemmSpec spec;
  spec.isa = isa;
  spec.m = 28;
  spec.n = 64;
  spec.k = 64;
  spec.a_row_stride = 64;
  spec.ldb = 64;
  spec.ldc = 64;
  return spec;
}

using Change = void (*)(BrgemmSpec& spec);

std::string reason_after(Change change, Isa isa = Isa::avx512) {
  BrgemmSpec spec = possible_spec(isa);
  change(spec);
  return why_not(spec).value_or("possible");
}

TEST(BrgemmSpec, TheTextSaysWhatDiffersFromTheDefault) {
  EXPECT_EQ(to_string(possible_spec()), "avx512 f32 m28 n64 k64 a_row64 ldb64 ldc64");
}

TEST(BrgemmSpec, EveryFieldChangesTheText) {
  const std::vector<Change> changes{
      [](BrgemmSpec& spec) { spec.isa = Isa::avx2; },
      [](BrgemmSpec& spec) { spec.type = DType::bf16; },
      [](BrgemmSpec& spec) { spec.m = 29; },
      [](BrgemmSpec& spec) { spec.n = 63; },
      [](BrgemmSpec& spec) { spec.k = 0; },
      [](BrgemmSpec& spec) { spec.line = 14; },
      [](BrgemmSpec& spec) { spec.a_row_stride = 65; },
      [](BrgemmSpec& spec) { spec.a_line_stride = 65; },
      [](BrgemmSpec& spec) { spec.a_k_stride = 65; },
      [](BrgemmSpec& spec) { spec.ldb = 65; },
      [](BrgemmSpec& spec) { spec.ldc = 65; },
      [](BrgemmSpec& spec) { spec.c_line_stride = 65; },
      [](BrgemmSpec& spec) { spec.accumulate = true; },
      [](BrgemmSpec& spec) { spec.form = BatchForm::address; },
      [](BrgemmSpec& spec) { spec.form = BatchForm::stride; },
      [](BrgemmSpec& spec) { spec.a_batch_stride = 65; },
      [](BrgemmSpec& spec) { spec.b_batch_stride = 65; },
      [](BrgemmSpec& spec) { spec.tile_rows = 5; },
      [](BrgemmSpec& spec) { spec.tile_cols = 32; },
      [](BrgemmSpec& spec) {
        spec.windows = {{0, 28}};
      },
      [](BrgemmSpec& spec) {
        spec.windows = {{0, 2}, {8, 28}};
      },
      [](BrgemmSpec& spec) {
        spec.windows = {{0, 28}, {8, 28}};
      },
      [](BrgemmSpec& spec) { spec.bias = true; },
      [](BrgemmSpec& spec) { spec.activation = Activation::relu; },
      [](BrgemmSpec& spec) { spec.activation = Activation::sigmoid; },
      [](BrgemmSpec& spec) { spec.activation = Activation::tanh; },
      [](BrgemmSpec& spec) { spec.activation = Activation::gelu_erf; },
      [](BrgemmSpec& spec) { spec.activation = Activation::gelu_tanh; },
      [](BrgemmSpec& spec) { spec.stream = true; },
      [](BrgemmSpec& spec) { spec.ahead = 1; }};
  std::set<std::string> texts{to_string(possible_spec())};
  for (const Change change : changes) {
    BrgemmSpec spec = possible_spec();
    change(spec);
    EXPECT_TRUE(texts.insert(to_string(spec)).second) << spec;
  }
}

TEST(BrgemmSpec, ExtentsAndStridesThatCannotBeAreNamed) {
  EXPECT_EQ(reason_after([](BrgemmSpec&) {}), "possible");
  EXPECT_EQ(reason_after([](BrgemmSpec& spec) { spec.m = 0; }), "m is 0, at least 1 is needed");
  EXPECT_EQ(reason_after([](BrgemmSpec& spec) { spec.n = -1; }), "n is -1, at least 1 is needed");
  EXPECT_EQ(reason_after([](BrgemmSpec& spec) { spec.k = -1; }), "k is -1, at least 0 is needed");
  EXPECT_EQ(reason_after([](BrgemmSpec& spec) { spec.ldb = 63; }), "ldb 63 is less than n 64");
  EXPECT_EQ(reason_after([](BrgemmSpec& spec) { spec.ldc = 63; }), "ldc 63 is less than n 64");
  EXPECT_EQ(reason_after([](BrgemmSpec& spec) { spec.line = 3; }), "line 3 does not divide m 28");
  EXPECT_EQ(reason_after([](BrgemmSpec& spec) { spec.line = 56; }), "line 56 does not divide m 28");
  EXPECT_EQ(reason_after([](BrgemmSpec& spec) { spec.line = 14; }),
            "c_line_stride 0: lines of C overlap, n is 64");
  EXPECT_EQ(reason_after([](BrgemmSpec& spec) { spec.ahead = -1; }),
            "ahead -1 is not from 0 to 1048576");
}

TEST(BrgemmSpec, TypesWithoutAKernelAreRefused) {
  EXPECT_EQ(reason_after([](BrgemmSpec& spec) { spec.type = DType::bf16; }),
            "type bf16 has no kernel yet, only f32");
  EXPECT_EQ(reason_after([](BrgemmSpec& spec) { spec.type = DType::s8; }),
            "type s8 has no kernel yet, only f32");
}

TEST(BrgemmSpec, WindowsStayWithinTheLine) {
  EXPECT_EQ(reason_after([](BrgemmSpec& spec) { spec.windows = {{0, 28}, {3, 3}}; }), "possible");
  EXPECT_EQ(reason_after([](BrgemmSpec& spec) {
              spec.windows = {{0, 29}};
            }),
            "window 0:29 is not within a line of 28 rows");
  EXPECT_EQ(reason_after([](BrgemmSpec& spec) {
              spec.windows = {{-1, 2}};
            }),
            "window -1:2 is not within a line of 28 rows");
  EXPECT_EQ(reason_after([](BrgemmSpec& spec) {
              spec.windows = {{3, 2}};
            }),
            "window 3:2 is not within a line of 28 rows");
}

TEST(BrgemmSpec, TilesAreLimitedByTheRegisters) {
  const Change fits_zmm = [](BrgemmSpec& spec) { spec.tile_rows = 6; };
  const Change needs_33 = [](BrgemmSpec& spec) { spec.tile_rows = 7; };
  EXPECT_EQ(reason_after(fits_zmm), "possible");
  EXPECT_EQ(reason_after(needs_33), "tile 7x64 needs 33 vector registers, avx512 has 32");
  const Change one_column = [](BrgemmSpec& spec) {
    spec.tile_rows = 30;
    spec.tile_cols = 16;
  };
  EXPECT_EQ(reason_after(one_column), "possible");
  const Change ymm = [](BrgemmSpec& spec) {
    spec.tile_rows = 4;
    spec.tile_cols = 24;
  };
  EXPECT_EQ(reason_after(ymm, Isa::avx2), "possible");
  EXPECT_EQ(reason_after(one_column, Isa::avx2),
            "tile 30x16 needs 63 vector registers, avx2 has 16");
}

TEST(BrgemmSpec, TilesAreWholeVectors) {
  EXPECT_EQ(reason_after([](BrgemmSpec& spec) { spec.tile_cols = 40; }),
            "tile of 40 columns, not a multiple of 16");
  EXPECT_EQ(reason_after([](BrgemmSpec& spec) { spec.tile_cols = -16; }),
            "tile of -16 columns, not a multiple of 16");
  EXPECT_EQ(reason_after([](BrgemmSpec& spec) { spec.n = spec.tile_cols = 40; }), "possible");
  EXPECT_EQ(reason_after([](BrgemmSpec& spec) { spec.tile_rows = -1; }), "tile of -1 rows");
}

TEST(BrgemmSpec, OperandsBeyond32BitDisplacementsAreRefused) {
  EXPECT_EQ(reason_after([](BrgemmSpec& spec) { spec.a_k_stride = 1 << 23; }),
            "A reaches 2147490816 bytes in one call, at most 2147483647 can be addressed");
  for (const Change change :
       {Change([](BrgemmSpec& spec) { spec.a_row_stride = INT64_MIN; }),
        Change([](BrgemmSpec& spec) { spec.a_k_stride = INT64_MAX; }),
        Change([](BrgemmSpec& spec) { spec.ldb = INT64_MAX; }),
        Change([](BrgemmSpec& spec) { spec.ldc = INT64_MAX / 2; }),
        Change([](BrgemmSpec& spec) { spec.m = spec.k = INT32_MAX; }),
        Change([](BrgemmSpec& spec) { spec.n = INT32_MAX, spec.ldb = spec.ldc = spec.n; })}) {
    EXPECT_NE(reason_after(change).find("can be addressed"), std::string::npos)
        << reason_after(change);
  }
}

TEST(BrgemmSpec, StreamedRowsAreAligned) {
  EXPECT_EQ(reason_after([](BrgemmSpec& spec) { spec.stream = true; }), "possible");
  EXPECT_EQ(reason_after([](BrgemmSpec& spec) { spec.stream = true, spec.ldc = 72; }),
            "streamed rows of C must start at multiples of 16 elements, ldc is 72");
  EXPECT_EQ(reason_after([](BrgemmSpec& spec) { spec.stream = true, spec.ldc = 72; }, Isa::avx2),
            "possible");
}

TEST(BrgemmSpec, AnImpossibleSpecMakesNoKernel) {
  BrgemmSpec spec = possible_spec(Isa::ref);
  spec.n = 0;
  EXPECT_THROW(BrgemmKernel{spec}, std::invalid_argument);
}

RegisterTile tile_for(Isa isa, int n) {
  BrgemmSpec spec = possible_spec(isa);
  spec.n = n;
  return register_tile(spec);
}

TEST(RegisterTile, IsChosenByTheColumns) {
  EXPECT_EQ(tile_for(Isa::avx512, 256).rows, 6);
  EXPECT_EQ(tile_for(Isa::avx512, 256).cols, 64);
  EXPECT_EQ(tile_for(Isa::avx512, 32).rows, 14);
  EXPECT_EQ(tile_for(Isa::avx512, 16).rows, 28);
  EXPECT_EQ(tile_for(Isa::avx512, 20).cols, 20);
  EXPECT_EQ(tile_for(Isa::avx2, 64).rows, 6);
  EXPECT_EQ(tile_for(Isa::avx2, 64).cols, 16);
}

TEST(RegisterTile, GivenTilesAreKept) {
  BrgemmSpec spec = possible_spec();
  spec.tile_rows = 8;
  spec.tile_cols = 48;
  EXPECT_EQ(register_tile(spec).rows, 8);
  EXPECT_EQ(register_tile(spec).cols, 48);
}

TEST(MultiplyAdds, CountTheRowsOfTheWindow) {
  BrgemmSpec spec = possible_spec();
  EXPECT_EQ(multiply_adds(spec, 0, 3), 28 * 64 * 64 * 3);
  spec.line = 7;
  spec.windows = {{1, 7}, {0, 7}};
  EXPECT_EQ(multiply_adds(spec, 0, 1), 24 * 64 * 64);
  EXPECT_EQ(multiply_adds(spec, 1, 1), 28 * 64 * 64);
}

TEST(MultiplyAdds, NeverWrapAround) {
  BrgemmSpec spec = possible_spec();
  EXPECT_EQ(multiply_adds(spec, 0, INT64_MAX), INT64_MAX);
}

}  // namespace
}  // namespace loopbrick
