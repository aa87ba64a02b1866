#include "kernels/brgemm_kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <random>

#include "tests/brgemm_trial.h"

namespace loopbrick {

void PrintTo(Isa isa, std::ostream* out) { *out << to_string(isa); }

namespace {

BrgemmSpec dense_spec(Isa isa, int m, int n, int k) {
  BrgemmSpec spec;
  spec.isa = isa;
  spec.m = m;
  spec.n = n;
  spec.k = k;
  spec.a_row_stride = std::max(k, 1);
  spec.ldb = n;
  spec.ldc = n;
  return spec;
}

BrgemmSpec padded_spec(Isa isa, int m, int n, int k) {
  BrgemmSpec spec = dense_spec(isa, m, n, k);
  spec.a_row_stride += 3;
  spec.ldb += 5;
  spec.ldc += 1;
  return spec;
}

std::string run(const BrgemmSpec& spec, const BrgemmTrial::Options& options = {}) {
  const BrgemmKernel kernel(spec);
  return BrgemmTrial(spec, options).run(kernel);
}

class BrgemmKernelOf : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override {
    if (GetParam() > best_isa()) GTEST_SKIP() << "this CPU has no " << to_string(GetParam());
  }
  Isa isa() const { return GetParam(); }
  int vector() const { return isa() == Isa::ref ? 8 : lanes(isa()); }
};

INSTANTIATE_TEST_SUITE_P(Isas, BrgemmKernelOf, testing::Values(Isa::ref, Isa::avx2, Isa::avx512),
                         [](const auto& isa) { return std::string(to_string(isa.param)); });

TEST_P(BrgemmKernelOf, AgreesWithTheReferenceAroundEveryTail) {
  const int v = vector();
  int turn = 0;
  for (const int m : {1, 2, 6, 7, 14, 15, 29, 90}) {
    for (const int n : {1, v - 1, v, v + 1, 2 * v, 2 * v + 1, 4 * v - 1, 4 * v, 4 * v + 1, 9 * v}) {
      for (const int k : {0, 1, 3, 16, 17, 31, 32, 33, 50}) {
        BrgemmSpec spec = padded_spec(isa(), m, n, k);
        spec.accumulate = turn % 2 == 0;
        spec.form = static_cast<BatchForm>(turn % 3);
        spec.a_batch_stride = m * spec.a_row_stride;
        spec.b_batch_stride = k * spec.ldb;
        const auto flush = static_cast<GuardedFloats::Flush>(turn / 2 % 2);
        const auto fill = turn % 5 == 0 ? Fill::uniform : Fill::integers;
        ASSERT_EQ(run(spec, {.counts = {1 + turn % 3}, .fill = fill, .flush = flush}), "");
        ++turn;
      }
    }
  }
}

/// Values drawn for one field after another; the same on every machine.
class Draw {
 public:
  explicit Draw(unsigned seed) : bits_(seed) {}
  int from(int least, int most) {
    return least + static_cast<int>(bits_() % static_cast<unsigned>(most - least + 1));
  }
  bool one_in(int chances) { return from(1, chances) == 1; }

 private:
  std::mt19937 bits_;
};

void draw_lines(BrgemmSpec& spec, Draw& draw) {
  spec.line = draw.from(1, 20);
  const int lines = draw.from(1, 7);
  spec.m = spec.line * lines;
  spec.a_line_stride = spec.line * spec.a_row_stride + draw.from(0, 20);
  spec.c_line_stride = spec.line * spec.ldc + draw.from(0, 2) * 16;
}

void draw_windows(BrgemmSpec& spec, Draw& draw) {
  const int line = spec.line == 0 ? spec.m : spec.line;
  for (int groups = draw.from(1, 4); groups > 0; --groups) {
    const int first = draw.from(0, line);
    spec.windows.push_back({first, draw.from(first, line)});
  }
}

/// The strides of the blocks of a batch lie far enough apart for any A that draw_spec makes.
void draw_strides(BrgemmSpec& spec, Draw& draw) {
  spec.a_row_stride = draw.from(1, 3) * std::max(spec.k, 1) + draw.from(0, 5);
  spec.ldb = spec.n + draw.from(0, 17);
  spec.ldc = (spec.n + 15) / 16 * 16 + draw.from(0, 1) * 16;
}

/// A as a transposed matrix: neighbours in k lie a row of A apart.
void transpose_a(BrgemmSpec& spec) {
  spec.a_k_stride = spec.m + 2;
  spec.a_row_stride = 1;
  spec.a_line_stride = spec.line;
}

void draw_tile(BrgemmSpec& spec, Draw& draw) {
  spec.tile_rows = draw.from(1, 14);
  spec.tile_cols = draw.from(1, 4) * lanes(spec.isa);
}

void place_batch(BrgemmSpec& spec) {
  const std::int64_t lines = spec.line == 0 ? 1 : spec.m / spec.line;
  const std::int64_t rows = spec.m / lines;
  spec.a_batch_stride = std::max<std::int64_t>(
      1, rows * spec.a_row_stride + lines * spec.a_line_stride + spec.k * spec.a_k_stride);
  spec.b_batch_stride = (spec.k + 1) * spec.ldb;
}

BrgemmSpec draw_spec(Isa isa, Draw& draw) {
  BrgemmSpec spec = dense_spec(isa, draw.from(1, 40), draw.from(1, 100), draw.from(0, 50));
  draw_strides(spec, draw);
  if (draw.one_in(2)) draw_lines(spec, draw);
  if (draw.one_in(3)) transpose_a(spec);
  if (draw.one_in(2)) draw_windows(spec, draw);
  if (draw.one_in(3)) draw_tile(spec, draw);
  spec.form = static_cast<BatchForm>(draw.from(0, 2));
  if (spec.form == BatchForm::stride) place_batch(spec);
  spec.accumulate = draw.one_in(2);
  spec.bias = draw.one_in(3);
  spec.activation = draw.one_in(2) ? static_cast<Activation>(draw.from(1, 5)) : Activation::none;
  spec.ahead = draw.one_in(4) ? draw.from(1, 3) : 0;
  return spec;
}

TEST_P(BrgemmKernelOf, AgreesWithTheReferenceOnDrawnSpecs) {
  Draw draw(1906);
  int possible = 0;
  for (int i = 0; i < 600; ++i) {
    const BrgemmSpec spec = draw_spec(isa(), draw);
    BrgemmTrial::Options options{.counts = {}, .seed = static_cast<unsigned>(i)};
    for (int groups = std::max(1, spec.windows.size()); groups > 0; --groups) {
      options.counts.push_back(draw.from(0, 3));
    }
    options.fill = draw.one_in(3) ? Fill::uniform : Fill::integers;
    if (why_not(spec)) continue;
    ASSERT_EQ(run(spec, options), "");
    ++possible;
  }
  EXPECT_GT(possible, 400);
}

TEST_P(BrgemmKernelOf, SumsBatchesOfAnyLength) {
  for (const BatchForm form : {BatchForm::address, BatchForm::offset, BatchForm::stride}) {
    for (const std::int64_t count : {0, 1, 2, 17, 261}) {
      for (const bool accumulate : {false, true}) {
        BrgemmSpec spec = padded_spec(isa(), 7, 20, 5);
        spec.form = form;
        spec.a_batch_stride = 100;
        spec.b_batch_stride = 200;
        spec.accumulate = accumulate;
        EXPECT_EQ(run(spec, {.counts = {count}}), "");
      }
    }
  }
}

TEST_P(BrgemmKernelOf, SumsSingleElementsOverALongBatch) {
  EXPECT_EQ(run(dense_spec(isa(), 1, 1, 40), {.counts = {261}}), "");
}

TEST_P(BrgemmKernelOf, TakesBackwardAndOverlappingEntriesOfA) {
  BrgemmSpec spec = dense_spec(isa(), 9, 17, 6);
  spec.form = BatchForm::stride;
  spec.a_batch_stride = -54;
  spec.b_batch_stride = 102;
  EXPECT_EQ(run(spec, {.counts = {5}, .fill = Fill::ones}), "");
  spec.a_batch_stride = 0;
  EXPECT_EQ(run(spec, {.counts = {5}, .fill = Fill::ones}), "");
}

TEST_P(BrgemmKernelOf, TakesBackwardStridesOfA) {
  BrgemmSpec spec = dense_spec(isa(), 9, 17, 6);
  spec.a_row_stride = -7;
  EXPECT_EQ(run(spec, {.counts = {2}}), "");
  spec.a_row_stride = 1;
  spec.a_k_stride = -11;
  EXPECT_EQ(run(spec, {.counts = {2}}), "");
}

TEST_P(BrgemmKernelOf, OneRowOfAMayServeAllRowsOfC) {
  BrgemmSpec spec = dense_spec(isa(), 40, 33, 7);
  spec.a_row_stride = 0;
  EXPECT_EQ(run(spec, {.fill = Fill::ones}), "");
}

TEST_P(BrgemmKernelOf, AnEmptySumOverwritesWithZeroOrLeavesC) {
  BrgemmSpec spec = padded_spec(isa(), 7, 13, 0);
  const BrgemmKernel overwriting(spec);
  BrgemmTrial zero(spec, {.counts = {3}});
  ASSERT_EQ(zero.run(overwriting), "");
  for (const float c : zero.result()) EXPECT_EQ(c, 0.0F);

  spec.accumulate = true;
  const BrgemmKernel accumulating(spec);
  BrgemmTrial kept(spec, {.counts = {3}, .fill = Fill::ones});
  ASSERT_EQ(kept.run(accumulating), "");
  for (const float c : kept.result()) EXPECT_EQ(c, 1.0F);
}

TEST_P(BrgemmKernelOf, EqualElementsComeOutEqual) {
  for (const Fill fill : {Fill::ones, Fill::tenths}) {
    for (int m = 1; m <= 40; ++m) {
      const BrgemmSpec spec = dense_spec(isa(), m, 37, 64);
      const BrgemmKernel kernel(spec);
      BrgemmTrial trial(spec, {.counts = {2}, .fill = fill});
      ASSERT_EQ(trial.run(kernel), "");
      for (const float c : trial.result()) {
        ASSERT_EQ(std::bit_cast<int>(c), std::bit_cast<int>(trial.result()[0])) << "m " << m;
      }
    }
  }
}

TEST_P(BrgemmKernelOf, LeadingDimensionsMayExceedTheRows) {
  for (int more = 0; more <= 17; ++more) {
    BrgemmSpec spec = dense_spec(isa(), 64, 239, 64);
    spec.a_row_stride += more;
    spec.ldb += more;
    spec.ldc += more;
    EXPECT_EQ(run(spec), "");
  }
}

TEST_P(BrgemmKernelOf, AllOfTheSmallestShapesAreRight) {
  for (int m = 1; m <= 4; ++m) {
    for (int n = 1; n <= 4; ++n) {
      for (int k = 1; k <= 4; ++k) EXPECT_EQ(run(dense_spec(isa(), m, n, k)), "");
    }
  }
}

TEST_P(BrgemmKernelOf, OddDepthsAreRight) {
  for (int k = 1; k <= 133; k += 2) EXPECT_EQ(run(dense_spec(isa(), 8, 32, k)), "");
}

/// 3 filter columns over lines of 7 pixels, padding 1: the first leaves out the first pixel, the
/// last the last one.
BrgemmSpec image_spec(Isa isa, int lines) {
  BrgemmSpec spec = dense_spec(isa, 7 * lines, 64, 16);
  spec.line = 7;
  spec.a_line_stride = 9 * 16;
  spec.c_line_stride = 7 * 64;
  spec.windows = {{1, 7}, {0, 7}, {0, 6}};
  return spec;
}

TEST_P(BrgemmKernelOf, WindowsLeaveSinglePixelsOut) {
  for (const int lines : {1, 2, 7, 13, 100}) {
    EXPECT_EQ(run(image_spec(isa(), lines), {.counts = {3, 2, 3}}), "") << lines;
  }
}

TEST_P(BrgemmKernelOf, WindowsInALongLineAreRight) {
  for (const BatchForm form : {BatchForm::address, BatchForm::offset, BatchForm::stride}) {
    BrgemmSpec spec = padded_spec(isa(), 224, 64, 3);
    spec.windows = {{3, 224}, {0, 3}, {0, 224}, {100, 101}, {5, 5}, {0, 200}};
    spec.form = form;
    spec.a_batch_stride = 2000;
    spec.b_batch_stride = 300;
    EXPECT_EQ(run(spec, {.counts = {2, 3, 1, 0, 4, 1}}), "");
  }
}

TEST_P(BrgemmKernelOf, RowsThatNoWindowTouchesAreStillWritten) {
  BrgemmSpec spec = dense_spec(isa(), 5, 10, 4);
  spec.windows = {{2, 3}, {4, 4}};
  spec.bias = true;
  EXPECT_EQ(run(spec, {.counts = {2, 2}}), "");
}

TEST_P(BrgemmKernelOf, PrefetchingNeverReadsPastTheList) {
  for (const BatchForm form : {BatchForm::address, BatchForm::offset, BatchForm::stride}) {
    BrgemmSpec spec = image_spec(isa(), 14);
    spec.form = form;
    spec.a_batch_stride = 5000;
    spec.b_batch_stride = 16 * 64;
    spec.ahead = 2;
    EXPECT_EQ(run(spec, {.counts = {1, 0, 5}}), "");
    EXPECT_EQ(run(spec, {.counts = {0, 0, 0}}), "");
    spec.n = 40;
    spec.ldb = 40;
    spec.k = 100;
    spec.a_row_stride = 100;
    spec.a_batch_stride = 20000;
    spec.b_batch_stride = 4000;
    EXPECT_EQ(run(spec, {.counts = {1, 2, 1}}), "");
  }
}

TEST_P(BrgemmKernelOf, StreamsAlignedRows) {
  for (const int n : {64, 70, 16}) {
    BrgemmSpec spec = dense_spec(isa(), 20, n, 8);
    spec.ldc = 80;
    spec.stream = true;
    EXPECT_EQ(run(spec, {.flush = GuardedFloats::Flush::front}), "");
    spec.accumulate = true;
    EXPECT_EQ(run(spec, {.flush = GuardedFloats::Flush::front}), "");
  }
}

TEST_P(BrgemmKernelOf, ReluKeepsNan) {
  BrgemmSpec spec = dense_spec(isa(), 1, 3, 1);
  spec.activation = Activation::relu;
  const BrgemmKernel kernel(spec);
  const float a[] = {1.0F};
  const float b[] = {NAN, -2.0F, 2.0F};
  float c[] = {9.0F, 9.0F, 9.0F};
  const BatchAddress list[] = {{a, b}};
  const BatchOffset origin[] = {{0, 0}};
  const std::int64_t count = 1;
  kernel({.a = a, .b = b, .c = c, .list = origin, .counts = &count});
  EXPECT_TRUE(std::isnan(c[0]));
  EXPECT_EQ(c[1], 0.0F);
  EXPECT_EQ(c[2], 2.0F);

  spec.form = BatchForm::address;
  const BrgemmKernel by_address(spec);
  by_address({.c = c, .list = list, .counts = &count});
  EXPECT_TRUE(std::isnan(c[0]));
  EXPECT_EQ(c[1], 0.0F);
}

TEST_P(BrgemmKernelOf, EveryTileThatFitsIsRight) {
  if (isa() == Isa::ref) GTEST_SKIP() << "ref has no register tile";
  for (int rows = 1; rows <= 31; ++rows) {
    for (int vectors = 1; vectors <= 5; ++vectors) {
      BrgemmSpec spec = padded_spec(isa(), 61, 5 * vector() + 3, 18);
      spec.tile_rows = rows;
      spec.tile_cols = vectors * vector();
      if (why_not(spec)) continue;
      EXPECT_EQ(run(spec, {.counts = {2}}), "");
    }
  }
}

TEST_P(BrgemmKernelOf, StridesBeyond32BitsAreTakenInTheStrideForm) {
  BrgemmSpec spec = dense_spec(isa(), 3, 5, 4);
  spec.form = BatchForm::stride;
  spec.a_batch_stride = std::int64_t{1} << 40;
  spec.b_batch_stride = -(std::int64_t{1} << 41);
  EXPECT_EQ(why_not(spec), std::nullopt);
  spec.ahead = 1;
  const BrgemmKernel kernel(spec);
  const std::vector<float> ones(20, 1.0F);
  std::vector<float> c(15);
  const std::int64_t count = 1;
  kernel({.a = ones.data(), .b = ones.data(), .c = c.data(), .counts = &count});
  EXPECT_EQ(c, std::vector<float>(15, 4.0F));
}

}  // namespace
}  // namespace loopbrick
