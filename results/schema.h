#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace loopbrick {

/// The id in the header of every database of ours: "loop" in ASCII.
inline constexpr std::int32_t kApplicationId = 0x6C6F6F70;

/// SQL that takes a database from version i to i + 1, for i = 0, 1, ... A released one is never
/// edited: changes are added at the end. Documented in docs/schema.md.
std::span<const std::string_view> migrations();

}  // namespace loopbrick
