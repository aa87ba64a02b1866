#pragma once
#include <vector>

#include "kernels/brgemm_spec.h"

namespace loopbrick {

/// Register tiles worth trying on this ISA: 1 to 4 vectors wide, from all rows that the registers
/// hold down to half of them. The first, 0 x 0, leaves the choice to the generator.
std::vector<RegisterTile> register_tiles(Isa isa);

/// Whether a call of rows x cols has a kernel with this tile that is not the generator's own choice
/// under another name and not larger than the call.
bool is_tile_of(Isa isa, const RegisterTile& tile, int rows, int cols);

}  // namespace loopbrick
