#include "baselines/rimmed_input.h"

#include <algorithm>

namespace loopbrick {
namespace {

/// Calls with where each line begins without and with the rim.
template <typename Visit>
void each_line(const RimmedInput& input, Visit visit) {
  const std::int64_t width = input.width + 2 * input.pad_w;
  const std::int64_t height = input.height + 2 * input.pad_h;
  for (std::int64_t plane = 0; plane < input.planes; ++plane) {
    for (std::int64_t h = 0; h < input.height; ++h) {
      visit((plane * input.height + h) * input.width,
            (plane * height + h + input.pad_h) * width + input.pad_w);
    }
  }
}

}  // namespace

std::vector<float> with_rim(const RimmedInput& input, std::span<const float> plain) {
  std::vector<float> rimmed(static_cast<std::size_t>(input.elements()));
  each_line(input, [&](std::int64_t line, std::int64_t at) {
    std::copy_n(plain.begin() + line, input.width, rimmed.begin() + at);
  });
  return rimmed;
}

void without_rim(const RimmedInput& input, std::span<const float> rimmed, std::span<float> plain) {
  each_line(input, [&](std::int64_t line, std::int64_t at) {
    std::copy_n(rimmed.begin() + at, input.width, plain.begin() + line);
  });
}

}  // namespace loopbrick
