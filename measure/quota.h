#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace loopbrick {

/// CPUs that control groups grant this process ("1.5"); nothing if they set no limit.
std::optional<double> cpu_quota(const std::string& root = "/");

/// Bytes that this process can still use before the system swaps or kills it.
///
/// MemAvailable, or less where a control group grants less; nothing if neither is told.
std::optional<std::int64_t> available_memory(const std::string& root = "/");

}  // namespace loopbrick
