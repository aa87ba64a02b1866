#include "baselines/matrix_rows.h"

#include <algorithm>

namespace loopbrick {

void copy_rows(const float* from, std::int64_t from_ld, float* to, std::int64_t to_ld,
               std::int64_t rows, std::int64_t columns) {
  for (std::int64_t row = 0; row < rows; ++row) {
    std::copy_n(from + row * from_ld, columns, to + row * to_ld);
  }
}

}  // namespace loopbrick
