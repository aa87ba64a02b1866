#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace loopbrick {

/// The text of a small file of /proc or /sys; nothing if it is not there or not ours to read.
std::optional<std::string> read_text(const std::filesystem::path& file);

/// The whole number that the file starts with; nothing if there is none ("max").
std::optional<std::int64_t> read_count(const std::filesystem::path& file);

/// What follows "name :" on the first line of `text` that starts with `name`; empty if none does.
std::string field(std::string_view text, std::string_view name);

/// CPU numbers of a list like "0-3,8"; what is no number is skipped.
std::vector<int> parse_cpu_list(std::string_view text);

/// The cgroup folders below `root` that limit this process, innermost first: those of version 2 and
/// those of `controller` ("cpu", "memory") in version 1.
std::vector<std::filesystem::path> cgroup_folders(const std::string& root,
                                                  std::string_view controller);

}  // namespace loopbrick
