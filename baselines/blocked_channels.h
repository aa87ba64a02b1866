#pragma once
#include <cstdint>

namespace loopbrick {

/// A stack of `images` images whose `channels` lie in blocks of `block`: [images][channels /
/// block][pixels][block]. With one block it is channels-last.
///
/// Needs  block divides channels.
struct BlockedChannels {
  std::int64_t images = 0;
  std::int64_t channels = 0;
  std::int64_t pixels = 0;
  std::int64_t block = 0;
};

/// From and to the plain layout, [images][channels][pixels].
void block_channels(const BlockedChannels& shape, const float* plain, float* blocked);
void unblock_channels(const BlockedChannels& shape, const float* blocked, float* plain);

}  // namespace loopbrick
