#include "problems/reference_tile.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <omp.h>
#include <vector>

namespace loopbrick {
namespace {

constexpr std::int64_t kPiece = 512;    ///< of the depth: 32 KiB of B stay in L1
constexpr std::int64_t kMostTiles = 8;  ///< of rows that share B: their 256 KiB of A stay in L2
constexpr std::int64_t kTileSize = kTileRows * kTileCols;

using Doubles = double __attribute__((vector_size(64)));
using Floats = float __attribute__((vector_size(32)));

/// sums[8][16] += a[depth][8] (transposed) * b[depth][16]. One product of float32 is exact in
/// double.
__attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4"))) void multiply_tile(
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

/// sums[cols][8] += a[depth][8] (transposed) * b[depth][cols]: the columns that fill no vector,
/// along the rows.
__attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4"))) void multiply_tail(
    const double* a, const float* b, std::int64_t depth, std::int64_t cols, double* sums) {
  for (std::int64_t col = 0; col < cols; ++col) {
    Doubles sum;
    std::memcpy(&sum, sums + col * kTileRows, sizeof(Doubles));
    for (std::int64_t d = 0; d < depth; ++d) {
      Doubles rows;
      std::memcpy(&rows, a + d * kTileRows, sizeof(Doubles));
      sum += rows * static_cast<double>(b[d * cols + col]);
    }
    std::memcpy(sums + col * kTileRows, &sum, sizeof(Doubles));
  }
}

std::int64_t blocks_of(std::int64_t extent, std::int64_t block) {
  return (extent + block - 1) / block;
}

std::int64_t block_cols(const SlowProduct& product, std::int64_t block) {
  return std::min(kTileCols, product.cols - block * kTileCols);
}

std::int64_t depth_offset(const SlowProduct& product, std::int64_t d) {
  return d / product.b_block * product.b_block_stride +
         d % product.b_block * product.b_depth_stride;
}

/// Copies one block of columns, 16 rows at a time: either side is read or written in whole cache
/// lines.
void pack_block(const SlowProduct& product, const float* from, std::int64_t cols, float* to) {
  constexpr std::int64_t kRows = 16;
  std::array<std::int64_t, kRows> offsets;
  for (std::int64_t first = 0; first < product.depth; first += kRows) {
    const std::int64_t rows = std::min(kRows, product.depth - first);
    for (std::int64_t d = 0; d < rows; ++d)
      offsets[static_cast<std::size_t>(d)] = depth_offset(product, first + d);
    for (std::int64_t col = 0; col < cols; ++col) {
      for (std::int64_t d = 0; d < rows; ++d) {
        to[(first + d) * cols + col] =
            from[offsets[static_cast<std::size_t>(d)] + col * product.b_col_stride];
      }
    }
  }
}

std::int64_t piece_length(const SlowProduct& product) {
  return std::max<std::int64_t>(1, kPiece / product.depth_multiple) * product.depth_multiple;
}

/// Tiles of rows that one thread takes at once: as many for each, and no more than kMostTiles.
std::int64_t tiles_at_once(const SlowProduct& product, int threads) {
  const std::int64_t tiles = blocks_of(product.rows, kTileRows);
  const std::int64_t shares = threads * blocks_of(tiles, threads * kMostTiles);
  return std::max<std::int64_t>(1, blocks_of(tiles, shares));
}

/// What one thread works in, tile of rows by tile of rows.
struct Scratch {
  std::vector<double> piece;  ///< of A
  std::vector<double> sums;   ///< [cols / 16][8][16], in a narrow last block [cols][8]
};

std::int64_t sums_of_tile(const SlowProduct& product) {
  return blocks_of(product.cols, kTileCols) * kTileSize;
}

std::vector<Scratch> make_scratch(const SlowProduct& product, std::int64_t tiles, int threads) {
  const std::int64_t length = std::min(product.depth, piece_length(product));
  return std::vector<Scratch>(
      static_cast<std::size_t>(threads),
      Scratch{
          .piece = std::vector<double>(static_cast<std::size_t>(tiles * length * kTileRows)),
          .sums = std::vector<double>(static_cast<std::size_t>(tiles * sums_of_tile(product)))});
}

/// Tiles `first` to `first + count` of the rows of one group.
struct Share {
  std::int64_t group = 0, first = 0, count = 0;
};

/// `b` is the group's part of the packed B.
void sum_rows(const SlowProduct& product, const float* b, const Share& share, Scratch& scratch) {
  std::ranges::fill(scratch.sums, 0.0);
  const std::int64_t length = piece_length(product);
  for (std::int64_t first = 0; first < product.depth; first += length) {
    const std::int64_t count = std::min(length, product.depth - first);
    const auto piece = [&](std::int64_t tile) {
      return scratch.piece.data() + tile * count * kTileRows;
    };
    for (std::int64_t tile = 0; tile < share.count; ++tile)
      product.a(share.group, (share.first + tile) * kTileRows, first, count, piece(tile));
    for (std::int64_t block = 0; block < blocks_of(product.cols, kTileCols); ++block) {
      const std::int64_t cols = block_cols(product, block);
      const float* const piece_of_b = b + block * kTileCols * product.depth + first * cols;
      for (std::int64_t tile = 0; tile < share.count; ++tile) {
        double* const sums = scratch.sums.data() + tile * sums_of_tile(product) + block * kTileSize;
        if (cols == kTileCols) {
          multiply_tile(piece(tile), piece_of_b, count, sums);
        } else {
          multiply_tail(piece(tile), piece_of_b, count, cols, sums);
        }
      }
    }
  }
}

/// `sums` are those of the tile that begins at `row`.
void store_rows(const SlowProduct& product, std::int64_t group, std::int64_t row,
                const double* sums) {
  const std::int64_t rows = std::min(kTileRows, product.rows - row);
  for (std::int64_t col = 0; col < product.cols; ++col) {
    const std::int64_t block = col / kTileCols;
    const bool wide = block_cols(product, block) == kTileCols;
    const std::int64_t row_step = wide ? kTileCols : 1;
    const std::int64_t col_step = wide ? 1 : kTileRows;
    const double* const own = sums + block * kTileSize + col % kTileCols * col_step;
    for (std::int64_t i = 0; i < rows; ++i) product.store(group, row + i, col, own[i * row_step]);
  }
}

}  // namespace

PackedB pack_b(const SlowProduct& product, int threads) {
  const std::int64_t blocks = blocks_of(product.cols, kTileCols);
  PackedB packed = std::make_unique_for_overwrite<float[]>(
      static_cast<std::size_t>(product.groups * product.cols * product.depth));
#pragma omp parallel for collapse(2) num_threads(threads)
  for (std::int64_t group = 0; group < product.groups; ++group) {
    for (std::int64_t block = 0; block < blocks; ++block) {
      const std::int64_t col = block * kTileCols;
      const float* const from =
          product.b + group * product.b_group_stride + col * product.b_col_stride;
      pack_block(product, from, block_cols(product, block),
                 packed.get() + (group * product.cols + col) * product.depth);
    }
  }
  return packed;
}

void run(const SlowProduct& product, int threads) {
  run(product, pack_b(product, threads), threads);
}

void run(const SlowProduct& product, const PackedB& b, int threads) {
  const std::int64_t b_size = product.cols * product.depth;
  const std::int64_t tiles = blocks_of(product.rows, kTileRows);
  const std::int64_t at_once = tiles_at_once(product, threads);
  std::vector<Scratch> scratch = make_scratch(product, at_once, threads);
#pragma omp parallel for collapse(2) schedule(dynamic) num_threads(threads)
  for (std::int64_t group = 0; group < product.groups; ++group) {
    for (std::int64_t first = 0; first < tiles; first += at_once) {
      Scratch& own = scratch[static_cast<std::size_t>(omp_get_thread_num())];
      const Share share{group, first, std::min(at_once, tiles - first)};
      sum_rows(product, b.get() + group * b_size, share, own);
      for (std::int64_t tile = 0; tile < share.count; ++tile) {
        store_rows(product, group, (first + tile) * kTileRows,
                   own.sums.data() + tile * sums_of_tile(product));
      }
    }
  }
}

}  // namespace loopbrick
