#pragma once
#include "trials/examiner.h"

namespace loopbrick {

/// Serves the requests that come over `socket` until it closes; looks arms up with `find`.
/// Returns the exit code.
int serve(int socket, const Find& find);

}  // namespace loopbrick
