#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>

namespace loopbrick {

constexpr std::int64_t kTileRows = 8;
constexpr std::int64_t kTileCols = 16;  ///< 16 x 8 doubles fill half of the AVX-512 registers

/// Matrix products as the reference sees them: Y = A * B, one per group, with A made a piece at a
/// time, so that a convolution is one without im2col in memory.
///
/// Shapes  A rows x depth, B depth x cols; with D = b_block, element (d, col) of B lies at
///         b[group * b_group_stride + d / D * b_block_stride + d % D * b_depth_stride
///           + col * b_col_stride].
struct SlowProduct {
  std::int64_t groups = 1, rows = 0, cols = 0, depth = 0;
  std::int64_t depth_multiple = 1;  ///< pieces of the depth begin at multiples of this

  const float* b = nullptr;
  std::int64_t b_group_stride = 0;
  std::int64_t b_block = std::numeric_limits<std::int64_t>::max(), b_block_stride = 0;
  std::int64_t b_depth_stride = 0, b_col_stride = 0;

  /// Writes A[row + i][first + d] to piece[d * kTileRows + i] for d < count, i < kTileRows and row
  /// + i < rows.
  std::function<void(std::int64_t group, std::int64_t row, std::int64_t first, std::int64_t count,
                     double* piece)>
      a;

  /// Takes a finished element.
  std::function<void(std::int64_t group, std::int64_t row, std::int64_t col, double sum)> store;
};

/// Sums in double and in the order of the depth.
///
/// Threads  `threads` OpenMP threads share groups and rows; a and store are called from all of
/// them.
void run(const SlowProduct& product, int threads);

/// B as [groups][cols / 16][depth][16]; the last block is as narrow as its columns.
using PackedB = std::unique_ptr<float[]>;
PackedB pack_b(const SlowProduct& product, int threads);

/// The same with a B that was packed before, for another A.
void run(const SlowProduct& product, const PackedB& b, int threads);

}  // namespace loopbrick
