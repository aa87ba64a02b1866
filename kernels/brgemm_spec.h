#pragma once
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include "kernels/activation.h"
#include "kernels/dtype.h"
#include "kernels/few.h"
#include "kernels/isa.h"

namespace loopbrick {

/// How a call names the blocks of its batch.
enum class BatchForm { address, offset, stride };

std::string_view to_string(BatchForm form);

/// The columns [first, last) of every line of C rows that one group of batch entries touches.
///
/// A convolution at the image's rim multiplies padding in some filter columns: the rows of C that
/// would only add zeros are left out of the tile for those entries.
struct RowWindow {
  int first = 0;
  int last = 0;

  friend bool operator==(const RowWindow&, const RowWindow&) = default;
};

/// What one batch-reduce GEMM kernel computes: C (+)= sum over i of A[i] * B[i].
///
/// Shapes  A[i] is m x k, B[i] is k x n, C is m x n. Columns (n) are the vector dimension and
/// contiguous in B
///         and C. The m rows lie in lines of `line` rows (m is a multiple of line; line 0 means one
///         line of m rows): row i of A starts at (i / line) * a_line_stride + (i % line) *
///         a_row_stride, of C likewise. Elements of A are only ever broadcast, so A may have any
///         row stride and any k stride.
/// Units   every field counts elements, never bytes. Strides may be negative or zero for A.
/// Source  Georganas et al., IPDPS 2020, doi:10.1109/IPDPS47924.2020.00032 (arXiv:1906.06440).
struct BrgemmSpec {
  Isa isa = Isa::avx512;
  DType type = DType::f32;  ///< of A and B; C accumulates in f32 (f32, bf16) or s32 (s8)
  int m = 0;
  int n = 0;
  int k = 0;  ///< 0 is allowed: the sum is empty
  int line = 0;
  std::int64_t a_row_stride = 0;
  std::int64_t a_line_stride = 0;
  std::int64_t a_k_stride = 1;
  std::int64_t ldb = 0;
  std::int64_t ldc = 0;
  std::int64_t c_line_stride = 0;
  bool accumulate = false;  ///< false: C is overwritten and never read
  BatchForm form = BatchForm::offset;
  std::int64_t a_batch_stride = 0;  ///< stride form only: elements between A[i] and A[i + 1]
  std::int64_t b_batch_stride = 0;
  int tile_rows = 0;  ///< register tile; 0: the generator's choice for this n
  int tile_cols = 0;  ///< columns of the register tile, a multiple of the vector (or all of n)
  Few<RowWindow, 8>
      windows;  ///< empty: one group that touches all rows; else one group of entries per window
  bool bias = false;                         ///< add bias[n] to every row at the end
  Activation activation = Activation::none;  ///< applied last
  /// Write C around the caches: rows of C are aligned to the vector; other threads see them after a
  /// barrier or another locked instruction.
  bool stream = false;
  int ahead = 0;  ///< prefetch B this many batch entries ahead; 0: not at all
  std::int64_t fetch_a =
      0;  ///< prefetch the rows of A that lie this far behind those being read; 0: none

  friend bool operator==(const BrgemmSpec&, const BrgemmSpec&) = default;
};

/// The key under which a kernel is cached: every field that differs from its default.
std::string to_string(const BrgemmSpec& spec);
std::ostream& operator<<(std::ostream& out, const BrgemmSpec& spec);

/// The reason this spec cannot become a kernel, or nothing if it can.
std::optional<std::string> why_not(const BrgemmSpec& spec);

/// Rows and columns of the register tile that the generator uses for this spec (the given ones, or
/// its choice).
struct RegisterTile {
  int rows = 0;
  int cols = 0;
};
RegisterTile register_tile(const BrgemmSpec& spec);

/// Multiply-adds that `entries` batch entries of this spec really execute in the given window
/// group.
std::int64_t multiply_adds(const BrgemmSpec& spec, int window, std::int64_t entries);

}  // namespace loopbrick
