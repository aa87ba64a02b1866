#pragma once
#include <filesystem>

namespace SQLite {
class Database;
}

namespace loopbrick {

/// Copies a database while others may write to it: one file, whole, without a log beside it.
///
/// Errors  throws BadDatabase if `into` is there already or `from` is none of ours, WorldFailure if
///         the disk is full.
void copy_database(const std::filesystem::path& from, const std::filesystem::path& into);

/// All pages of an open database into an open, empty one.
///
/// Errors  throws SQLite::Exception, also where a lock keeps the pages from being read.
void copy_pages(SQLite::Database& from, SQLite::Database& into);

}  // namespace loopbrick
