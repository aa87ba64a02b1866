#include "baselines/blocked_channels.h"

namespace loopbrick {
namespace {

/// Calls visit(index in the plain layout, index in the blocked one) for every element.
template <typename Visit>
void for_each_element(const BlockedChannels& shape, Visit visit) {
  for (std::int64_t n = 0; n < shape.images; ++n) {
    for (std::int64_t c = 0; c < shape.channels; ++c) {
      const std::int64_t line = (n * shape.channels + c) * shape.pixels;
      const std::int64_t within = c % shape.block;
      const std::int64_t block = (n * shape.channels + c - within) * shape.pixels + within;
      for (std::int64_t i = 0; i < shape.pixels; ++i) visit(line + i, block + i * shape.block);
    }
  }
}

}  // namespace

void block_channels(const BlockedChannels& shape, const float* plain, float* blocked) {
  for_each_element(shape, [=](std::int64_t p, std::int64_t b) { blocked[b] = plain[p]; });
}

void unblock_channels(const BlockedChannels& shape, const float* blocked, float* plain) {
  for_each_element(shape, [=](std::int64_t p, std::int64_t b) { plain[p] = blocked[b]; });
}

}  // namespace loopbrick
