#include "baselines/buffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <new>

namespace loopbrick {
namespace {

bool begins_on(std::uintptr_t page, const Buffer& buffer) {
  return reinterpret_cast<std::uintptr_t>(buffer.data()) % page == 0;
}

TEST(Buffer, BeginsOnAPageAndIsZero) {
  const Buffer buffer(1000, Pages::small);
  EXPECT_TRUE(begins_on(4096, buffer));
  EXPECT_TRUE(std::all_of(buffer.data(), buffer.data() + 1000, [](float f) { return f == 0; }));
  EXPECT_GE(buffer.size_bytes(), 4000);
  EXPECT_TRUE(begins_on(std::uintptr_t{2} << 20, Buffer(10, Pages::huge)));
}

TEST(Buffer, NothingIsAllowedAndTooMuchThrows) {
  EXPECT_EQ(Buffer(0, Pages::small).size_bytes(), 0);
  EXPECT_THROW(Buffer(INT64_MAX / 2, Pages::small), std::bad_alloc);
}

}  // namespace
}  // namespace loopbrick
