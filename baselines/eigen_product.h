#pragma once
#include "baselines/matrix_product.h"
#include "kernels/isa.h"

namespace loopbrick {

// The only file that is compiled for the host's CPU, since Eigen chooses its instructions when it
// is compiled. It includes nothing of ours that has code, so none of it ends up in another file's
// functions.

/// Needs  a CPU with eigen_build().isa.
void eigen_product(const MatrixProduct& product, int threads);

/// What the file was compiled for, and Eigen's version.
struct EigenBuild {
  Isa isa = Isa::ref;
  int world = 0;
  int major_version = 0;
  int minor_version = 0;
};

/// Runs anywhere.
EigenBuild eigen_build();

}  // namespace loopbrick
