#include "measure/quota.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "measure/system_files.h"

namespace loopbrick {
namespace {

namespace fs = std::filesystem;

/// Version 2: "150000 100000", or "max 100000" for no limit.
std::optional<double> quota_v2(const fs::path& folder) {
  std::istringstream text(read_text(folder / "cpu.max").value_or(""));
  double quota = 0.0;
  double period = 0.0;
  if (!(text >> quota >> period) || period <= 0.0) return std::nullopt;
  return quota / period;
}

/// Version 1: two files, a quota of -1 for no limit.
std::optional<double> quota_v1(const fs::path& folder) {
  const auto quota = read_count(folder / "cpu.cfs_quota_us");
  const auto period = read_count(folder / "cpu.cfs_period_us");
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

template <typename T>
std::optional<T> smaller(std::optional<T> left, std::optional<T> right) {
  if (!left || !right) return left ? left : right;
  return std::min(*left, *right);
}

std::optional<std::int64_t> difference(std::optional<std::int64_t> limit,
                                       std::optional<std::int64_t> used) {
  if (!limit || !used) return std::nullopt;
  return std::max<std::int64_t>(0, *limit - *used);
}

/// What is in the page cache counts as used but is given back when asked for.
std::int64_t inactive_file_bytes(const fs::path& folder, std::string_view name) {
  std::istringstream stat(read_text(folder / "memory.stat").value_or(""));
  std::string key;
  for (std::int64_t bytes = 0; stat >> key >> bytes;) {
    if (key == name) return bytes;
  }
  return 0;
}

std::optional<std::int64_t> memory_left(const fs::path& folder, const char* limit_file,
                                        const char* used_file, const char* inactive) {
  const auto left = difference(read_count(folder / limit_file), read_count(folder / used_file));
  if (!left) return std::nullopt;
  return *left + inactive_file_bytes(folder, inactive);
}

std::optional<std::int64_t> memory_available_to_all(const std::string& root) {
  const std::string text = read_text(fs::path(root) / "proc/meminfo").value_or("");
  std::istringstream value(field(text, "MemAvailable"));
  std::int64_t kibibytes = 0;
  if (!(value >> kibibytes)) return std::nullopt;
  return kibibytes * 1024;
}

}  // namespace

std::optional<double> cpu_quota(const std::string& root) {
  std::optional<double> least;
  for (const fs::path& folder : cgroup_folders(root, "cpu")) {
    least = smaller(least, smaller(quota_v2(folder), quota_v1(folder)));
  }
  return least;
}

std::optional<std::int64_t> available_memory(const std::string& root) {
  std::optional<std::int64_t> least = memory_available_to_all(root);
  for (const fs::path& folder : cgroup_folders(root, "memory")) {
    least = smaller(least, memory_left(folder, "memory.max", "memory.current", "inactive_file"));
    least = smaller(least, memory_left(folder, "memory.limit_in_bytes", "memory.usage_in_bytes",
                                       "total_inactive_file"));
  }
  return least;
}

}  // namespace loopbrick
