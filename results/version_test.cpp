// Databases of earlier programs, kept as SQL: they must open, keep their rows and look like new
// ones.
#include <gtest/gtest.h>

#include <SQLiteCpp/Database.h>
#include <fstream>

#include "results/database_file.h"
#include "results/fixture.h"
#include "results/schema.h"
#include "results/test_folder.h"

namespace loopbrick {
namespace {

class Version : public TestFolder {
 protected:
  /// The stored database of that version.
  std::filesystem::path old_database(int version) const {
    std::ifstream in(std::string(OLD_VERSIONS) + "/version" + std::to_string(version) + ".sql");
    const std::string sql{std::istreambuf_iterator<char>(in), {}};
    const auto file = path("version" + std::to_string(version) + ".db");
    SQLite::Database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(sql);
    return file;
  }
};

/// Name and text of everything in the schema, without blanks that differ.
std::string schema_of(SQLite::Database& database) {
  return database
      .execAndGet(
          "SELECT group_concat(name || sql, ';') FROM (SELECT name, sql FROM sqlite_schema"
          " WHERE sql IS NOT NULL ORDER BY name)")
      .getString();
}

std::string new_schema(const std::filesystem::path& file, std::size_t version) {
  SQLite::Database database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  migrate(database, migrations().first(version));
  return schema_of(database);
}

TEST_F(Version, EveryOldOneIsStillMadeTheSameWay) {
  for (std::size_t version = 1; version <= migrations().size(); ++version) {
    SQLite::Database old(old_database(static_cast<int>(version)).string());
    EXPECT_EQ(schema_of(old), new_schema(path("new" + std::to_string(version) + ".db"), version))
        << "a released migration was edited: add one at the end instead";
  }
}

TEST_F(Version, EveryOldOneIsBroughtUpToDateAndKeepsItsRows) {
  for (std::size_t version = 1; version <= migrations().size(); ++version) {
    const auto file = old_database(static_cast<int>(version));
    Store store(file, Access::write);
    const TrialRecord trial = store.trial(1).value();
    EXPECT_EQ(trial.choice, "N k64 p q14 @ c64 * c r s");
    EXPECT_EQ(trial.confirmed.n, 9);
    EXPECT_EQ(trial.samples.size(), 2U);
    EXPECT_EQ(store.query("SELECT choice FROM best").rows.size(), 1U);
    EXPECT_EQ(store.query("SELECT trials FROM effort").rows, store.query("SELECT 1").rows);
    EXPECT_EQ(store.query("SELECT * FROM effort").rows, store.query("SELECT * FROM recount").rows);
    EXPECT_EQ(store.query("PRAGMA user_version").rows[0][0], std::to_string(migrations().size()));
    SQLite::Database now(file.string());
    EXPECT_EQ(schema_of(now),
              new_schema(path("now" + std::to_string(version) + ".db"), migrations().size()));
  }
}

}  // namespace
}  // namespace loopbrick
