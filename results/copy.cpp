#include "results/copy.h"

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/Database.h>
#include <fmt/format.h>

#include "results/database_file.h"

namespace loopbrick {

void copy_database(const std::filesystem::path& from, const std::filesystem::path& into) {
  if (std::filesystem::exists(into))
    throw BadDatabase(fmt::format("'{}' is there already", into.string()));
  const auto reader = open_reader(from);
  with_file_named(into, nullptr, [&] {
    SQLite::Database copy(into.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    SQLite::Backup(copy, *reader).executeStep(-1);
    copy.exec("PRAGMA journal_mode = DELETE");  // readable where nothing can be written beside it
  });
}

}  // namespace loopbrick
