#include "tuner/register_tiles.h"

#include <algorithm>

namespace loopbrick {

std::vector<RegisterTile> register_tiles(Isa isa) {
  std::vector<RegisterTile> tiles{{}};
  if (isa == Isa::ref) return tiles;
  const int registers = isa == Isa::avx512 ? 32 : 16;
  for (int vectors = 1; vectors <= 4; ++vectors) {
    const int most =
        (registers - 1) / vectors - 1;  // a row of B and one element of A need registers too
    for (int rows = most; rows >= std::max(2, most / 2); rows -= std::max(1, most / 8)) {
      tiles.push_back({.rows = rows, .cols = vectors * lanes(isa)});
    }
  }
  return tiles;
}

bool is_tile_of(Isa isa, const RegisterTile& tile, int rows, int cols) {
  if (tile.rows == 0) return true;
  if (tile.rows > rows || tile.cols - cols >= lanes(isa)) return false;
  BrgemmSpec spec;
  spec.isa = isa;
  spec.m = rows;
  spec.n = cols;
  spec.k = 1;
  spec.ldb = spec.ldc = cols;
  const RegisterTile usual = register_tile(spec);
  if (tile.rows == usual.rows && std::min(tile.cols, cols) == usual.cols) return false;
  spec.tile_rows = tile.rows;
  spec.tile_cols = tile.cols;
  return !why_not(spec);
}

}  // namespace loopbrick
