#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/kernel_cache.h"
#include "loops/slope_product.h"
#include "problems/conditions.h"
#include "problems/problem.h"

namespace loopbrick {

/// What a backward pass of a fully connected layer does before its loops: dz = dy f'(.), which
/// stands for dy in them, and the gradient of the bias, db[k] = sum over n of dz[n][k].
///
/// Arrays lie densely as the problem's layout says, so that dz is one walk over all of them. db is
/// made by the brick, as a row of ones times dz.
/// Threads  run starts `conditions.threads` OpenMP threads.
class SumGradient {
 public:
  /// Nothing for a problem that has neither an activation nor a bias, or runs forward.
  static std::optional<SumGradient> of(const Problem& problem, const Conditions& conditions,
                                       KernelCache& kernels);

  /// Bytes of dz, in whole cache lines; 0 without an activation.
  std::int64_t workspace_bytes() const;

  /// Ends of parallel regions, and the wait for dz within one.
  std::int64_t barriers() const { return product_ == nullptr ? 1 : 2; }

  /// Writes dz to the workspace and db, where there are any; returns what stands for dy: dz or,
  /// without an activation, dy itself.
  const float* run(const float* dy, const float* kept, float* db,
                   std::byte* workspace) const noexcept;

  std::vector<std::shared_ptr<const BrgemmKernel>> generated() const { return {whole_, rest_}; }

 private:
  SumGradient(const Problem& problem, const Conditions& conditions, KernelCache& kernels);

  void add_rows(int number, const float* dz, float* db) const noexcept;

  SlopeProduct product_ = nullptr;
  bool bias_ = false;
  int threads_ = 1;
  std::int64_t rows_ = 0, columns_ = 0;
  std::int64_t width_ = 0;         ///< columns that one call of the brick sums
  std::int64_t next_columns_ = 0;  ///< elements from those of one call to those of the next
  std::shared_ptr<const BrgemmKernel> whole_, rest_;
};

}  // namespace loopbrick
