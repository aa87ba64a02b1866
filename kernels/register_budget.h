#pragma once
#include <algorithm>

#include "kernels/isa.h"

namespace loopbrick {

/// A register tile of r rows and v vectors needs r * v registers for C, v for a row of B and one
/// for a broadcast element of A.
constexpr int vector_registers(Isa isa) { return isa == Isa::avx512 ? 32 : 16; }

/// Vectors that cover so many columns.
inline int vector_count(Isa isa, int columns) { return (columns - 1) / lanes(isa) + 1; }

/// Vectors a tile: 6 x 4 zmm and 6 x 2 ymm leave the fewest loads per multiply-add.
constexpr int usual_vectors(Isa isa) { return isa == Isa::avx512 ? 4 : 2; }

/// As many rows as the registers hold, but 28 rather than 30: images have 7, 14 or 28 pixels a
/// line.
constexpr int usual_tile_rows(Isa isa, int vectors) {
  return std::clamp((vector_registers(isa) - 1) / vectors - 1, 1, 28);
}

}  // namespace loopbrick
