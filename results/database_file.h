#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "results/file_system.h"
#include "results/store.h"

namespace SQLite {
class Database;
}

namespace loopbrick {

/// Runs `work`; whatever SQLite throws in it leaves as BadDatabase or WorldFailure with the file's
/// name.
void with_file_named(const std::filesystem::path& file, const SQLite::Database* database,
                     const std::function<void()>& work);

/// An open connection to a database of ours, checked before SQLite may touch a byte of it.
///
/// Errors  throws BadDatabase for a directory, another program's file, a file that may not be
/// written, ...
/// On a network file system (of which `ask` tells) it has no write-ahead log.
std::unique_ptr<SQLite::Database> open_database(const std::filesystem::path& file, Access access,
                                                const FileSystemOf& ask = file_system_of);

/// Schemas that a reader takes.
enum class Schemas { todays, older_too };

/// A connection that can't write, whatever is asked of it.
std::unique_ptr<SQLite::Database> open_reader(const std::filesystem::path& file,
                                              Schemas schemas = Schemas::todays);

/// The file as SQLite's ATTACH takes it, for reading only. A writer's connection takes URIs.
std::string reading_uri(const std::filesystem::path& file);

/// The version of the schema that the file has.
std::int64_t schema_version(SQLite::Database& database);

/// Brings the schema to version `steps.size()` in one transaction.
///
/// Errors  throws BadDatabase if it is beyond that already.
void migrate(SQLite::Database& database, std::span<const std::string_view> steps);

}  // namespace loopbrick
