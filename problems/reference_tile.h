#pragma once
#include <cstdint>
#include <functional>

namespace loopbrick {

constexpr std::int64_t kTileRows = 8;
constexpr std::int64_t kTileCols = 16;  ///< 16 x 8 doubles fill half of the AVX-512 registers

/// A matrix product as the reference sees it: Y = A * B with A made a piece at a time, so that a
/// convolution is one without im2col in memory.
///
/// Shapes  A rows x depth, B depth x cols.
struct SlowProduct {
  std::int64_t rows = 0, cols = 0, depth = 0;
  std::int64_t depth_multiple = 1;  ///< pieces of the depth begin at multiples of this

  /// Writes A[row + i][first + d] to piece[d * kTileRows + i] for d < count and i < kTileRows; 0
  /// where row + i is no row.
  std::function<void(std::int64_t row, std::int64_t first, std::int64_t count, double* piece)> a;

  std::function<float(std::int64_t depth, std::int64_t col)> b;

  /// Takes the finished element.
  std::function<void(std::int64_t row, std::int64_t col, double sum)> store;
};

/// Sums in double and in the order of the depth.
///
/// Threads  `threads` OpenMP threads share the rows; a, b and store are called from all of them.
void run(const SlowProduct& product, int threads);

}  // namespace loopbrick
