#include "baselines/blocked_channels.h"

#include <gtest/gtest.h>

#include <vector>

namespace loopbrick {
namespace {

using Floats = std::vector<float>;

// Two images of four channels and two pixels; the value is 100 n + 10 c + pixel.
const Floats kPlain{0, 1, 10, 11, 20, 21, 30, 31, 100, 101, 110, 111, 120, 121, 130, 131};
const Floats kPairs{0, 10, 1, 11, 20, 30, 21, 31, 100, 110, 101, 111, 120, 130, 121, 131};
const Floats kLast{0, 10, 20, 30, 1, 11, 21, 31, 100, 110, 120, 130, 101, 111, 121, 131};

BlockedChannels shape(std::int64_t block) {
  return {.images = 2, .channels = 4, .pixels = 2, .block = block};
}

TEST(BlockedChannels, ChannelsOfABlockLieTogether) {
  Floats got(kPlain.size());
  block_channels(shape(2), kPlain.data(), got.data());
  EXPECT_EQ(got, kPairs);
}

TEST(BlockedChannels, OneBlockIsChannelsLast) {
  Floats got(kPlain.size());
  block_channels(shape(4), kPlain.data(), got.data());
  EXPECT_EQ(got, kLast);
}

TEST(BlockedChannels, UnblockingUndoesBlocking) {
  Floats got(kPlain.size());
  unblock_channels(shape(2), kPairs.data(), got.data());
  EXPECT_EQ(got, kPlain);
}

}  // namespace
}  // namespace loopbrick
