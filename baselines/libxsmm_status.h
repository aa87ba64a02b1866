#pragma once

namespace loopbrick {

/// libxsmm said no: its status, which is 0 where all is well.
struct LibxsmmRefused {
  unsigned status = 0;
};

/// Errors  throws LibxsmmRefused.
inline void check_libxsmm(unsigned status) {
  if (status != 0) throw LibxsmmRefused{status};
}

}  // namespace loopbrick
