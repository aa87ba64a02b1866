#pragma once
#include <cstdint>
#include <string>

#include "measure/machine.h"

namespace loopbrick {

/// Where and by whom trials are run: what stands in every one of them.
struct Station {
  Machine machine;
  Limits limits;
  std::int64_t campaign = 0;  ///< of the store, which has the machine and the build already
  std::string build;          ///< BuildRecord::id
};

}  // namespace loopbrick
