#pragma once
#include <filesystem>

namespace loopbrick {

/// Copies a database while others may write to it: one file, whole, without a log beside it.
///
/// Errors  throws BadDatabase if `into` is there already or `from` is none of ours, WorldFailure if
///         the disk is full.
void copy_database(const std::filesystem::path& from, const std::filesystem::path& into);

}  // namespace loopbrick
