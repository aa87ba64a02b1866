#include "results/copy.h"

#include <sqlite3.h>

#include <SQLiteCpp/Backup.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <fmt/format.h>

#include "results/database_file.h"

namespace loopbrick {

void copy_pages(SQLite::Database& from, SQLite::Database& into) {
  // A lock is no exception of the backup's but an answer: nothing was copied.
  const int code = SQLite::Backup(into, from).executeStep(-1);
  if (code != SQLITE_DONE) throw SQLite::Exception("the pages could not be read", code);
}

void copy_database(const std::filesystem::path& from, const std::filesystem::path& into) {
  if (std::filesystem::exists(into))
    throw BadDatabase(fmt::format("'{}' is there already", into.string()));
  const auto reader = open_reader(from);
  with_file_named(into, nullptr, [&] {
    SQLite::Database copy(into.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    copy_pages(*reader, copy);
    copy.exec("PRAGMA journal_mode = DELETE");  // readable where nothing can be written beside it
  });
}

}  // namespace loopbrick
