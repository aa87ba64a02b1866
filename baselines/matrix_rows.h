#pragma once
#include <cstdint>

namespace loopbrick {

/// Copies a matrix row by row between two leading dimensions; what lies between the rows of `to`
/// stays.
void copy_rows(const float* from, std::int64_t from_ld, float* to, std::int64_t to_ld,
               std::int64_t rows, std::int64_t columns);

}  // namespace loopbrick
