#pragma once
#include "problems/implementation.h"

namespace loopbrick {

// One function a row of the table; each stands in the file of its name. Every row refuses what its
// library cannot do, and any choice but the empty one.

Implementation onednn_row();       ///< in onednn.cpp: it picks all layouts
Implementation onednn_nhwc_row();  ///< in onednn.cpp: activations channels-last, fc row-major
Implementation eigen_row();
Implementation im2col_row();
Implementation libxsmm_row();      ///< in libxsmm.cpp: a copy of the padding inside the run
Implementation libxsmm_rim_row();  ///< in libxsmm.cpp: the padding is part of the tensor
Implementation small_gemm_row();

}  // namespace loopbrick
