#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace loopbrick {

/// The magic number of the file system that holds a folder, as statfs gives it; nothing if it can't
/// be told.
using FileSystemOf =
    std::function<std::optional<std::int64_t>(const std::filesystem::path& folder)>;

std::optional<std::int64_t> file_system_of(const std::filesystem::path& folder);

/// The name of the network file system that `file` lies or would lie on, like "NFS"; nothing if it
/// is a local one. SQLite's locks can't be relied on there, and its write-ahead log needs memory
/// that machines do not share.
std::optional<std::string> network_file_system(const std::filesystem::path& file,
                                               const FileSystemOf& ask = file_system_of);

}  // namespace loopbrick
