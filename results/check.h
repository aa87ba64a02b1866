#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace SQLite {
class Database;
}

namespace loopbrick {

/// What one check found.
struct Finding {
  std::string check;        ///< what must hold, as a short sentence
  std::int64_t faults = 0;  ///< rows or pages where it doesn't
  std::string example{};    ///< one of them; empty: none

  friend bool operator==(const Finding&, const Finding&) = default;
};

/// Whether the file is whole: pages, indexes, references between tables, the schema itself.
std::vector<Finding> check_structure(SQLite::Database& database);

/// Every check, of the structure and of what its rows must say, the good ones too.
///
/// Errors  throws BadDatabase for a file that is not ours or of another schema version.
std::vector<Finding> check_database(const std::filesystem::path& file);

/// Brings an older file to today's schema and counts anew what is only derived from its trials,
/// which may have been changed by hand. The file is made if it is not there.
void update_database(const std::filesystem::path& file);

}  // namespace loopbrick
