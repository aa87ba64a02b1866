#include "cli/budget_share.h"

#include <algorithm>
#include <cassert>

namespace loopbrick {

Budget share_of(const Budget& whole, std::chrono::duration<double> spent, int parts) {
  assert(parts > 0);
  Budget share{.stale = whole.stale};
  if (whole.seconds > 0) share.seconds = std::max(1e-3, (whole.seconds - spent.count()) / parts);
  if (whole.trials > 0) share.trials = std::max<std::int64_t>(1, whole.trials / parts);
  return share;
}

}  // namespace loopbrick
