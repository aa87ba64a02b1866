#include "tuner/region.h"

#include <algorithm>
#include <cstdint>

namespace loopbrick {

Region whole_region(const Contraction& contraction) {
  Region region;
  for (std::size_t i = 0; i < region.size.size(); ++i) {
    region.size[i] = static_cast<double>(std::max<std::int64_t>(1, contraction.extents[i]));
  }
  return region;
}

double around(const Region& region, const Loop& loop) {
  const double size = region[loop.axis];
  return loop.fused == Axis::none ? size : size * region[loop.fused];
}

void shrink(Region& region, const Loop& loop, double step) {
  double& size = region[loop.axis];
  if (loop.fused == Axis::none) {
    size = std::min(size, step);
    return;
  }
  double& inner = region[loop.fused];
  size = std::clamp(step / inner, 1.0, size);
  inner = std::min(inner, step);
}

/// (The library's ceil is a call without SSE 4.1.)
double parts(double total, double step) {
  const double exact = total / step - 1e-9;
  const auto whole = static_cast<double>(static_cast<std::int64_t>(exact));
  return whole < exact ? whole + 1.0 : whole;
}

const Loop* loop_at(const Step& step, int i) {
  const Element& element = step.elements[i];
  return element.is_pack() ? nullptr : &element.loop;
}

}  // namespace loopbrick
