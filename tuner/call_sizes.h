#pragma once
#include "kernels/few.h"
#include "loops/contraction.h"
#include "loops/schedule.h"

namespace loopbrick {

/// `count` rounds of the same size along one axis.
struct Piece {
  double size = 0.0;
  double count = 0.0;
};

/// The innermost rounds along one axis: few sizes, since only those at a border differ. When there
/// are too many, the last one stands for all others.
using Pieces = Few<Piece, 12>;

/// Every piece cut into parts of `step` elements and what is left.
Pieces cut(const Pieces& pieces, double step);

/// The sizes of a nest's calls, along each side of C.
struct CallSizes {
  Pieces columns, lines, rows;
  double passes = 1.0;  ///< calls that add to one tile of C
};

CallSizes call_sizes(const Contraction& contraction, const Step& step);

}  // namespace loopbrick
