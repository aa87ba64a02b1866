#include "results/database_file.h"

#include <sqlite3.h>

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Transaction.h>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <fmt/format.h>
#include <thread>
#include <unistd.h>

#include "results/schema.h"

namespace loopbrick {

namespace {

namespace fs = std::filesystem;

constexpr auto kPatience = std::chrono::seconds(10);
constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr int kHeaderBytes = 100;
constexpr std::size_t kApplicationIdAt = 68;  // sqlite.org/fileformat.html, section 1.3

[[noreturn]] void refuse(const fs::path& file, std::string_view reason) {
  throw BadDatabase(fmt::format("database '{}' {}", file.string(), reason));
}

std::string system_reason(const SQLite::Database* database) {
  const int code = database != nullptr ? sqlite3_system_errno(database->getHandle()) : 0;
  return code != 0 ? fmt::format(" ({})", std::strerror(code)) : "";
}

[[noreturn]] void translate(const fs::path& file, const SQLite::Database* database,
                            const SQLite::Exception& error) {
  const std::string name = file.string();
  switch (error.getErrorCode() & 0xff) {
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      refuse(file, fmt::format("can't be opened for this: {}", error.what()));
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      refuse(file, fmt::format("is damaged: {}", error.what()));
    case SQLITE_FULL:
      throw WorldFailure(fmt::format("the disk of database '{}' is full", name));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw WorldFailure(fmt::format("database '{}' was locked by another program for {} s", name,
                                     kPatience.count()));
    default:
      throw WorldFailure(
          fmt::format("database '{}': {}{}", name, error.what(), system_reason(database)));
  }
}

/// Read through SQLite's own layer: any other way to close the file would drop the locks that other
/// connections of this process hold on it (fcntl(2)), and a third program would then take itself
/// for the last one and delete the log that they still write to.
std::array<unsigned char, kHeaderBytes> header_of(const fs::path& file) {
  std::array<unsigned char, kHeaderBytes> header{};
  sqlite3_vfs* const system = sqlite3_vfs_find(nullptr);
  const auto size = static_cast<std::size_t>(system->szOsFile) / sizeof(std::max_align_t) + 1;
  const auto memory = std::make_unique<std::max_align_t[]>(size);
  auto* const opened = reinterpret_cast<sqlite3_file*>(memory.get());
  const std::string name =
      file.string() + std::string(2, '\0');  // no parameters of a URI behind it
  if (system->xOpen(system, name.c_str(), opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB,
                    nullptr) != SQLITE_OK) {
    refuse(file, "may not be read");
  }
  const int code = opened->pMethods->xRead(opened, header.data(), kHeaderBytes, 0);
  opened->pMethods->xClose(opened);
  if (code != SQLITE_OK) refuse(file, "is not an SQLite database");
  return header;
}

void check_header(const fs::path& file) {
  const auto header = header_of(file);
  if (std::memcmp(header.data(), kMagic.data(), kMagic.size()) != 0) {
    refuse(file, "is not an SQLite database");
  }
  std::uint32_t id = 0;
  for (std::size_t i = 0; i < 4; ++i) id = id << 8U | header[kApplicationIdAt + i];
  if (id != static_cast<std::uint32_t>(kApplicationId)) {
    refuse(file, "is an SQLite database of another program; name another file");
  }
}

/// Write permission by the mode bits too: root may write everything, but a file without them was
/// protected on purpose.
bool is_writable(const fs::path& file) {
  constexpr auto kWriters =
      fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write;
  return access(file.c_str(), W_OK) == 0 &&
         (fs::status(file).permissions() & kWriters) != fs::perms::none;
}

void check_folder(const fs::path& file) {
  const fs::path folder = file.parent_path();
  if (!fs::is_directory(folder)) {
    refuse(file, fmt::format("can't be made: there is no folder '{}'", folder.string()));
  }
  if (!is_writable(folder)) {
    refuse(file, fmt::format("can't be written: folder '{}' is read-only", folder.string()));
  }
}

void check_file(const fs::path& file, Access access_wanted) {
  const bool writes = access_wanted == Access::write;
  if (file.filename().empty()) refuse(file, "has no file name");
  if (fs::is_directory(file)) refuse(file, "is a directory");
  if (writes) check_folder(file);
  if (!fs::exists(file)) {
    if (writes) return;
    refuse(file, "does not exist");
  }
  if (!fs::is_regular_file(file)) refuse(file, "is not a regular file");
  if (access(file.c_str(), R_OK) != 0) refuse(file, "may not be read");
  if (writes && !is_writable(file)) refuse(file, "is read-only");
  if (fs::file_size(file) > 0) {
    check_header(file);
  } else if (!writes) {
    refuse(file, "is empty");
  }
}

std::int64_t pragma(SQLite::Database& database, const std::string& name) {
  return database.execAndGet("PRAGMA " + name).getInt64();
}

/// Two programs that open a new file at once both ask for the whole file here, and SQLite lets
/// neither wait.
void ask_for_journal(SQLite::Database& database, const std::string& mode) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (database.tryExec("PRAGMA journal_mode = " + mode) == SQLITE_BUSY) {
    if (std::chrono::steady_clock::now() > end) {
      throw SQLite::Exception("database is locked", SQLITE_BUSY);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

void set_up_writer(SQLite::Database& database, bool is_remote) {
  database.setBusyTimeout(static_cast<int>(std::chrono::milliseconds(kPatience).count()));
  migrate(database, migrations());  // before WAL: the id stands in the file's own header at once
  ask_for_journal(database, is_remote ? "DELETE" : "WAL");
  const bool is_wal = database.execAndGet("PRAGMA journal_mode").getString() == "wal";
  database.exec(is_wal ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL");
  database.exec("PRAGMA foreign_keys = ON");
}

void check_version(const fs::path& file, SQLite::Database& database, Schemas schemas) {
  const auto version = schema_version(database);
  const auto known = static_cast<std::int64_t>(migrations().size());
  if (version > known) {
    refuse(file,
           fmt::format("is of a newer loopbrick (schema {}, this one knows {})", version, known));
  }
  if (version < known && schemas == Schemas::todays) {
    refuse(file, fmt::format("has the old schema {}; 'loopbrick db update {}' brings it to {}",
                             version, file.filename().string(), known));
  }
}

bool is_frozen(const fs::path& file) {
  return access(file.parent_path().c_str(), W_OK) != 0 && !fs::exists(file.string() + "-wal");
}

}  // namespace

void with_file_named(const fs::path& file, const SQLite::Database* database,
                     const std::function<void()>& work) {
  try {
    work();
  } catch (const SQLite::Exception& error) {
    translate(file, database, error);
  } catch (const fs::filesystem_error& error) {
    refuse(file, fmt::format("can't be reached: {}", error.code().message()));
  }
}

namespace {

/// The whole path, so that SQLite sees no special name in it.
fs::path checked(const fs::path& named, Access access_wanted) {
  if (named.empty()) refuse(named, "has no file name");
  fs::path file;
  with_file_named(named, nullptr, [&] {
    file = fs::absolute(named);
    check_file(file, access_wanted);
  });
  return file;
}

}  // namespace

std::int64_t schema_version(SQLite::Database& database) { return pragma(database, "user_version"); }

/// Where no one can write beside the file and no writer left a log, it can't change: SQLite may
/// read it as it is.
std::string reading_uri(const fs::path& named) {
  const fs::path file = fs::absolute(named);
  std::string uri = "file:";
  for (const char c : file.string()) {
    const bool is_special = c == '%' || c == '?' || c == '#';
    uri += is_special ? fmt::format("%{:02x}", static_cast<unsigned>(c)) : std::string(1, c);
  }
  return uri + (is_frozen(file) ? "?immutable=1" : "?mode=ro");
}

std::unique_ptr<SQLite::Database> open_database(const fs::path& named, Access access_wanted,
                                                const FileSystemOf& ask) {
  if (access_wanted == Access::read) return open_reader(named);
  const fs::path file = checked(named, access_wanted);
  std::unique_ptr<SQLite::Database> database;
  with_file_named(file, nullptr, [&] {
    database = std::make_unique<SQLite::Database>(
        file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_URI);
  });
  with_file_named(file, database.get(),
                  [&] { set_up_writer(*database, network_file_system(file, ask).has_value()); });
  return database;
}

std::unique_ptr<SQLite::Database> open_reader(const fs::path& named, Schemas schemas) {
  const fs::path file = checked(named, Access::read);
  std::unique_ptr<SQLite::Database> database;
  with_file_named(file, nullptr, [&] {
    database = std::make_unique<SQLite::Database>(reading_uri(file),
                                                  SQLite::OPEN_READONLY | SQLite::OPEN_URI);
  });
  with_file_named(file, database.get(), [&] {
    database->setBusyTimeout(static_cast<int>(std::chrono::milliseconds(kPatience).count()));
    database->exec("PRAGMA query_only = ON");
    check_version(file, *database, schemas);
  });
  return database;
}

void migrate(SQLite::Database& database, std::span<const std::string_view> steps) {
  const auto known = static_cast<std::int64_t>(steps.size());
  if (schema_version(database) == known) return;
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  const std::int64_t version = schema_version(database);
  if (version > known) {
    refuse(database.getFilename(),
           fmt::format("is of a newer loopbrick (schema {}, this one knows {})", version, known));
  }
  for (std::int64_t i = version; i < known; ++i) {
    database.exec(std::string(steps[static_cast<std::size_t>(i)]));
  }
  database.exec(fmt::format("PRAGMA application_id = {}", kApplicationId));
  database.exec(fmt::format("PRAGMA user_version = {}", known));
  transaction.commit();
}

}  // namespace loopbrick
