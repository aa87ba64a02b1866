#pragma once
#include <cstdint>
#include <string_view>

#include "problems/problem.h"

namespace loopbrick {

struct OutputRows {
  std::int64_t rows = 0;
  std::int64_t features = 0;
};

/// Adds the bias and applies the activation of `problem`, one pass over y; nothing if it has
/// neither.
///
/// Shapes   bias is [features], not read without one; y is [rows][features].
/// Threads  uses `threads` OpenMP threads.
void apply_post_ops(const Problem& problem, const OutputRows& shape, const float* bias, float* y,
                    int threads);

/// What comes before the product backward: dz = dy f'(kept) if `problem` has an activation f, and
/// db = the sum of the rows of dz (or dy) if it has a bias.
///
/// Shapes   db is [features], the others are [rows][features]; kept: see operands().
/// Threads  uses `threads` OpenMP threads.
void apply_slopes(const Problem& problem, const OutputRows& shape, const float* dy,
                  const float* kept, float* dz, float* db, int threads);

/// What either adds to Runnable::included.
std::string_view post_ops_text(const Problem& problem);

}  // namespace loopbrick
