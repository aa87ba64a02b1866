#include "problems/reference_tile.h"

#include <algorithm>
#include <cstring>
#include <omp.h>
#include <vector>

namespace loopbrick {
namespace {

constexpr std::int64_t kPiece = 2048;  ///< 128 KiB of A and as much of B: both stay in L2

using Doubles = double __attribute__((vector_size(64)));
using Floats = float __attribute__((vector_size(32)));

/// sums[8][16] += a[depth][8] (transposed) * b[depth][16]. One product of float32 is exact in
/// double.
__attribute__((target_clones("default", "arch=haswell", "arch=skylake-avx512"))) void multiply_tile(
    const double* a, const float* b, std::int64_t depth, double* sums) {
  Doubles left[kTileRows];
  Doubles right[kTileRows];
#pragma GCC unroll 8
  for (std::int64_t row = 0; row < kTileRows; ++row) {
    std::memcpy(&left[row], sums + row * kTileCols, sizeof(Doubles));
    std::memcpy(&right[row], sums + row * kTileCols + kTileCols / 2, sizeof(Doubles));
  }
  for (std::int64_t d = 0; d < depth; ++d) {
    Floats left_b;
    Floats right_b;
    std::memcpy(&left_b, b + d * kTileCols, sizeof(Floats));
    std::memcpy(&right_b, b + d * kTileCols + kTileCols / 2, sizeof(Floats));
    const Doubles wide_left = __builtin_convertvector(left_b, Doubles);
    const Doubles wide_right = __builtin_convertvector(right_b, Doubles);
#pragma GCC unroll 8
    for (std::int64_t row = 0; row < kTileRows; ++row) {
      left[row] += a[d * kTileRows + row] * wide_left;
      right[row] += a[d * kTileRows + row] * wide_right;
    }
  }
#pragma GCC unroll 8
  for (std::int64_t row = 0; row < kTileRows; ++row) {
    std::memcpy(sums + row * kTileCols, &left[row], sizeof(Doubles));
    std::memcpy(sums + row * kTileCols + kTileCols / 2, &right[row], sizeof(Doubles));
  }
}

std::int64_t blocks_of(std::int64_t extent, std::int64_t block) {
  return (extent + block - 1) / block;
}

/// B as [cols / 16][depth][16], zeros behind the last column.
std::vector<float> pack_b(const SlowProduct& product, int threads) {
  const std::int64_t blocks = blocks_of(product.cols, kTileCols);
  std::vector<float> packed(static_cast<std::size_t>(blocks * product.depth * kTileCols));
#pragma omp parallel for num_threads(threads)
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::int64_t first = block * kTileCols;
    const std::int64_t count = std::min(kTileCols, product.cols - first);
    float* to = packed.data() + block * product.depth * kTileCols;
    for (std::int64_t d = 0; d < product.depth; ++d) {
      for (std::int64_t col = 0; col < count; ++col)
        to[d * kTileCols + col] = product.b(d, first + col);
    }
  }
  return packed;
}

std::int64_t piece_length(const SlowProduct& product) {
  return std::max<std::int64_t>(1, kPiece / product.depth_multiple) * product.depth_multiple;
}

/// What one thread works in.
struct Scratch {
  std::vector<double> piece;  ///< of A
  std::vector<double> sums;   ///< [cols / 16][8][16]
};

std::vector<Scratch> make_scratch(const SlowProduct& product, int threads) {
  const std::int64_t length = std::min(product.depth, piece_length(product));
  const std::int64_t blocks = blocks_of(product.cols, kTileCols);
  return std::vector<Scratch>(
      static_cast<std::size_t>(threads),
      Scratch{
          .piece = std::vector<double>(static_cast<std::size_t>(length * kTileRows)),
          .sums = std::vector<double>(static_cast<std::size_t>(blocks * kTileRows * kTileCols))});
}

void sum_rows(const SlowProduct& product, const std::vector<float>& b, std::int64_t row,
              Scratch& scratch) {
  std::ranges::fill(scratch.sums, 0.0);
  const std::int64_t length = piece_length(product);
  for (std::int64_t first = 0; first < product.depth; first += length) {
    const std::int64_t count = std::min(length, product.depth - first);
    product.a(row, first, count, scratch.piece.data());
    for (std::int64_t block = 0; block < blocks_of(product.cols, kTileCols); ++block) {
      multiply_tile(scratch.piece.data(), b.data() + (block * product.depth + first) * kTileCols,
                    count, scratch.sums.data() + block * kTileRows * kTileCols);
    }
  }
}

void store_rows(const SlowProduct& product, std::int64_t row, const Scratch& scratch) {
  const std::int64_t rows = std::min(kTileRows, product.rows - row);
  for (std::int64_t col = 0; col < product.cols; ++col) {
    const double* tile = scratch.sums.data() + col / kTileCols * kTileRows * kTileCols;
    for (std::int64_t i = 0; i < rows; ++i)
      product.store(row + i, col, tile[i * kTileCols + col % kTileCols]);
  }
}

}  // namespace

void run(const SlowProduct& product, int threads) {
  const std::vector<float> b = pack_b(product, threads);
  std::vector<Scratch> scratch = make_scratch(product, threads);
  const std::int64_t tiles = blocks_of(product.rows, kTileRows);
#pragma omp parallel num_threads(threads)
  {
    Scratch& own = scratch[static_cast<std::size_t>(omp_get_thread_num())];
#pragma omp for schedule(dynamic)
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
      sum_rows(product, b, tile * kTileRows, own);
      store_rows(product, tile * kTileRows, own);
    }
  }
}

}  // namespace loopbrick
