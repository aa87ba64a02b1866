#include "tuner/steps.h"

#include <algorithm>

namespace loopbrick {

namespace {

std::vector<int> steps(std::int64_t total, int least, int most, std::int64_t factor) {
  std::vector<int> list;
  for (std::int64_t parts = 1; parts <= total; parts = factor == 1 ? parts + 1 : parts * factor) {
    const std::int64_t step = (total + parts - 1) / parts;
    if (step > most) {
      // Jump to the first number of parts that is small enough.
      if (factor == 1) parts = std::max(parts, (total + most - 1) / most - 1);
      continue;
    }
    if (step < least && parts > 1) break;
    if (list.empty() || list.back() != step) list.push_back(static_cast<int>(step));
  }
  return list;
}

}  // namespace

std::vector<int> even_steps(std::int64_t total, int least, int most) {
  return steps(total, least, most, 1);
}

std::vector<int> halved_steps(std::int64_t total, int least, int most) {
  return steps(total, least, most, 2);
}

std::vector<int> divisors(std::int64_t total, int least, int most) {
  std::vector<int> list;
  for (std::int64_t step = std::min<std::int64_t>(total, most); step >= least; --step) {
    if (total % step == 0) list.push_back(static_cast<int>(step));
  }
  return list;
}

}  // namespace loopbrick
