#include "results/database_file.h"

#include <gtest/gtest.h>

#include <SQLiteCpp/Database.h>
#include <fstream>

#include "results/fixture.h"
#include "results/schema.h"
#include "results/test_folder.h"

namespace loopbrick {
namespace {

namespace fs = std::filesystem;

class DatabaseFile : public TestFolder {
 protected:
  fs::path ours(const std::string& name = "ours.db") const {
    Store(path(name), Access::write).add_machine(fixture_machine());
    return path(name);
  }
  fs::path made_with(const std::string& sql) const {
    SQLite::Database(path("made.db").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
        .exec(sql);
    return path("made.db");
  }
  fs::path text_file(const std::string& text) const {
    std::ofstream(path("text.db")) << text;
    return path("text.db");
  }
};

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The refusal of that file, which is one line that names it; "" if it is accepted.
std::string refusal(const fs::path& file, Access access) {
  try {
    const Store store(file, access);
    return "";
  } catch (const BadDatabase& error) {
    const std::string what = error.what();
    EXPECT_NE(what.find(file.string()), std::string::npos) << what;
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    return what;
  }
}

void expect_refused(const fs::path& file, Access access, const std::string& reason) {
  EXPECT_NE(refusal(file, access).find(reason), std::string::npos) << refusal(file, access);
}

TEST_F(DatabaseFile, ANewOneIsMadeForWritingOnly) {
  expect_refused(path("new.db"), Access::read, "does not exist");
  EXPECT_FALSE(fs::exists(path("new.db")));
  EXPECT_EQ(refusal(path("new.db"), Access::write), "");
  EXPECT_EQ(refusal(path("new.db"), Access::read), "");
}

TEST_F(DatabaseFile, AnEmptyFileIsANewDatabase) {
  expect_refused(text_file(""), Access::read, "is empty");
  EXPECT_EQ(refusal(path("text.db"), Access::write), "");
}

TEST_F(DatabaseFile, AForeignDatabaseIsRefusedAndLeftAsItWas) {
  const auto file = made_with("CREATE TABLE trial(id INTEGER PRIMARY KEY)");
  const std::string before = bytes_of(file);
  expect_refused(file, Access::write, "another program");
  expect_refused(file, Access::read, "another program");
  EXPECT_EQ(bytes_of(file), before);
}

TEST_F(DatabaseFile, WhatIsNoDatabaseIsRefusedAndLeftAsItWas) {
  for (const std::string& text : {std::string("short"), std::string(5000, 'x')}) {
    const auto file = text_file(text);
    expect_refused(file, Access::write, "is not an SQLite database");
    expect_refused(file, Access::read, "is not an SQLite database");
    EXPECT_EQ(bytes_of(file), text);
  }
}

TEST_F(DatabaseFile, FoldersDevicesAndMissingFoldersAreRefused) {
  fs::create_directory(path("folder.db"));
  expect_refused(path("folder.db"), Access::write, "is a directory");
  expect_refused(path("folder.db"), Access::read, "is a directory");
  expect_refused("/dev/null", Access::read, "not a regular file");
  expect_refused(path("none") / "x.db", Access::write, "no folder");
  expect_refused("", Access::write, "no file name");
}

TEST_F(DatabaseFile, AFileWithoutWritePermissionIsReadOnly) {
  const auto file = ours();
  fs::permissions(file, fs::perms::owner_read);
  expect_refused(file, Access::write, "is read-only");
  EXPECT_EQ(refusal(file, Access::read), "");
}

TEST_F(DatabaseFile, OneOfANewerProgramIsRefused) {
  const auto file = ours();
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 99");
  expect_refused(file, Access::write, "newer loopbrick (schema 99");
  expect_refused(file, Access::read, "newer loopbrick (schema 99");
}

TEST_F(DatabaseFile, ADamagedOneIsRefused) {
  const auto file = ours();
  fs::resize_file(file, 4096 * 2);
  std::string what = "opened and read";
  try {
    what = Store(file, Access::read).query("PRAGMA integrity_check").rows.at(0).at(0).value();
  } catch (const BadDatabase& error) {
    what = error.what();
  }
  EXPECT_NE(what, "opened and read");
  EXPECT_NE(what, "ok");
}

TEST_F(DatabaseFile, NamesWithOddLettersWork) {
  EXPECT_EQ(refusal(ours("a b?c#d%41.db"), Access::read), "");
  EXPECT_TRUE(fs::exists(path("a b?c#d%41.db")));
}

TEST_F(DatabaseFile, MigrationRunsTheMissingStepsOnly) {
  SQLite::Database database(path("m.db").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  const std::string_view steps[] = {"CREATE TABLE a(x); INSERT INTO a VALUES (1)",
                                    "ALTER TABLE a ADD COLUMN y"};
  migrate(database, std::span(steps).first(1));
  migrate(database, steps);
  migrate(database, steps);
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM a WHERE y IS NULL").getInt(), 1);
  EXPECT_EQ(database.execAndGet("PRAGMA user_version").getInt(), 2);
  EXPECT_EQ(database.execAndGet("PRAGMA application_id").getInt(), kApplicationId);
  EXPECT_THROW(migrate(database, std::span(steps).first(1)), BadDatabase);
}

TEST_F(DatabaseFile, AMigrationThatFailsChangesNothing) {
  SQLite::Database database(path("m.db").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  const std::string_view steps[] = {"CREATE TABLE a(x)", "CREATE TABLE a(x)"};
  EXPECT_THROW(migrate(database, steps), std::exception);
  EXPECT_EQ(database.execAndGet("SELECT count(*) FROM sqlite_schema").getInt(), 0);
  EXPECT_EQ(database.execAndGet("PRAGMA user_version").getInt(), 0);
}

}  // namespace
}  // namespace loopbrick
