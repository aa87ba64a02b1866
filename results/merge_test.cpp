#include "results/merge.h"

#include <gtest/gtest.h>

#include <SQLiteCpp/Database.h>
#include <fstream>

#include "results/check.h"
#include "results/fixture.h"
#include "results/test_folder.h"

namespace loopbrick {
namespace {

namespace fs = std::filesystem;

class MergeTest : public TestFolder {
 protected:
  /// A database with one campaign that made trials of these choices and compared the first two.
  fs::path made(const std::string& name, const std::vector<std::string>& choices) const {
    Store store(path(name), Access::write);
    add_campaign(store, choices);
    return path(name);
  }
  static void add_campaign(Store& store, const std::vector<std::string>& choices) {
    store.add_machine(fixture_machine());
    store.add_build(fixture_build());
    const auto campaign = store.add_campaign(fixture_campaign("tune"));
    std::vector<std::int64_t> ids;
    for (const std::string& choice : choices)
      ids.push_back(store.add_trial(fixture_trial(campaign, choice, 1e-3)));
    if (ids.size() < 2) return;
    store.add_comparison(
        {.campaign = campaign, .trial = ids[0], .other = ids[1], .rounds = 9, .verdict = "SAME"});
  }
  fs::path copy(const fs::path& file, const std::string& name) const {
    fs::copy_file(file, path(name));
    return path(name);
  }
  static void confirm(const fs::path& file, double seconds) {
    Store(file, Access::write)
        .confirm(1,
                 {.n = 1,
                  .median = seconds,
                  .lo = seconds,
                  .hi = seconds,
                  .min = seconds,
                  .processes = 1},
                 4e11, {{.start = 1000 * seconds, .seconds = seconds, .confirming = true}});
  }
  static void confirm_at(const fs::path& file, double seconds, const std::string& instant) {
    confirm(file, seconds);
    SQLite::Database(file.string(), SQLite::OPEN_READWRITE)
        .exec("UPDATE trial SET confirmed_taken = '" + instant + "' WHERE id = 1");
  }
  static std::string value(const fs::path& file, const std::string& sql) {
    return Store(file, Access::read).query(sql).rows.at(0).at(0).value_or("NULL");
  }
  fs::path merged(const std::string& name, const std::vector<fs::path>& files) const {
    for (const fs::path& file : files) merge(path(name), file);
    return path(name);
  }
};

void expect_sound(const fs::path& file) {
  for (const Finding& finding : check_database(file))
    EXPECT_EQ(finding.faults, 0) << finding.check << ": " << finding.example;
}

/// All that a database says, without the ids that are its own.
std::string contents(const fs::path& file) {
  const Store store(file, Access::read);
  std::string text;
  for (const char* sql :
       {"SELECT campaign.key, number, choice, search_median, confirmed_n, confirmed_median,"
        " confirmed_taken, trial.peak_flops, taken FROM trial"
        " JOIN campaign ON campaign.id = campaign ORDER BY 1, 2",
        "SELECT key, number, start, seconds, confirming, superseded FROM sample"
        " JOIN trial ON trial.id = trial JOIN campaign ON campaign.id = campaign"
        " ORDER BY 1, 2, 3, 4, 5, 6",
        "SELECT key, a.number, b.number, ratio, verdict FROM comparison"
        " JOIN campaign ON campaign.id = comparison.campaign"
        " JOIN trial AS a ON a.id = comparison.trial JOIN trial AS b ON b.id = other"
        " ORDER BY 1, 2, 3",
        "SELECT key, command, ended, how FROM campaign ORDER BY 1",
        "SELECT id FROM machine UNION ALL SELECT id FROM build UNION ALL SELECT layer FROM layer"
        " ORDER BY 1"}) {
    for (const auto& row : store.query(sql).rows) {
      for (const auto& cell : row) text += cell.value_or("NULL") + "|";
      text += "\n";
    }
  }
  return text;
}

std::string refusal(const fs::path& into, const fs::path& from) {
  try {
    merge(into, from);
    return "";
  } catch (const BadDatabase& error) {
    return error.what();
  }
}

TEST_F(MergeTest, JoinsWhatTwoMachinesMeasured) {
  const auto a = made("a.db", {"A", "B"});
  const auto b = made("b.db", {"C", "D", "E"});
  EXPECT_EQ(merge(a, b), (Merged{.campaigns = 1, .trials = 3, .comparisons = 1}));
  EXPECT_EQ(value(a, "SELECT group_concat(choice, '') FROM trial"), "ABCDE");
  EXPECT_EQ(value(a, "SELECT count(*) FROM sample"), "15");
  EXPECT_EQ(value(a,
                  "SELECT a.choice || b.choice FROM comparison JOIN trial AS a ON a.id = trial"
                  " JOIN trial AS b ON b.id = other WHERE comparison.id = 2"),
            "CD");
  expect_sound(a);
}

TEST_F(MergeTest, IntoAFileThatIsNotThereIsACopy) {
  const auto a = made("a.db", {"A", "B"});
  merge(path("new.db"), a);
  EXPECT_EQ(contents(path("new.db")), contents(a));
}

TEST_F(MergeTest, ATrialThatCameTwoWaysIsThereOnce) {
  const auto a = made("a.db", {"A", "B"});
  const auto b = made("b.db", {"C"});
  const auto ab = merged("ab.db", {a, b});
  {
    Store store(a, Access::write);  // and both went on
    add_campaign(store, {"F", "G"});
  }
  const auto all = merged("all.db", {ab, a, b, ab});
  EXPECT_EQ(value(all, "SELECT count(*) || ' ' || count(DISTINCT choice) FROM trial"), "5 5");
  EXPECT_EQ(value(all, "SELECT count(*) FROM comparison"), "2");
  expect_sound(all);
}

TEST_F(MergeTest, AgainChangesNothing) {
  const auto a = made("a.db", {"A", "B"});
  confirm(a, 2e-3);
  const auto all = merged("all.db", {a});
  const std::string before = contents(all);
  EXPECT_EQ(merge(all, a), Merged{});
  EXPECT_EQ(contents(all), before);
}

TEST_F(MergeTest, TheOrderDoesNotMatter) {
  const auto a = made("a.db", {"A", "B"});
  const auto b = copy(a, "b.db");
  const auto c = copy(a, "c.db");
  confirm_at(a, 1e-3, "2026-01-01T00:00:00.000Z");
  confirm_at(b, 2e-3, "2026-01-02T00:00:00.000Z");
  confirm_at(b, 3e-3, "2026-01-04T00:00:00.000Z");
  confirm_at(c, 4e-3, "2026-01-03T00:00:00.000Z");
  Store(b, Access::write).end_campaign(1, "done");
  const std::string one = contents(merged("one.db", {a, b, c}));
  EXPECT_EQ(contents(merged("two.db", {c, b, a})), one);
  EXPECT_EQ(contents(merged("three.db", {a, merged("bc.db", {b, c})})), one);
  EXPECT_EQ(contents(merged("four.db", {merged("ab.db", {b, a}), c})), one);
  EXPECT_EQ(value(path("one.db"), "SELECT confirmed_median FROM trial WHERE number = 1"), "0.003");
  EXPECT_EQ(value(path("one.db"),
                  "SELECT group_concat(seconds) FROM sample"
                  " WHERE confirming AND NOT superseded"),
            "0.003");
  EXPECT_EQ(value(path("one.db"), "SELECT count(*) FROM sample WHERE superseded"), "3");
  EXPECT_EQ(value(path("one.db"), "SELECT how FROM campaign"), "done");
  expect_sound(path("one.db"));
}

TEST_F(MergeTest, TheLatestTrialIsTheLatestByTheClock) {
  const auto late = made("late.db", {"A"});
  const auto early = made("early.db", {"A"});
  SQLite::Database(early.string(), SQLite::OPEN_READWRITE)
      .exec(
          "UPDATE trial SET taken = '2020-01-01T00:00:00.000Z'; UPDATE campaign SET command ="
          " 'early', started = '2020-01-01T00:00:00.000Z'");
  merge(late, early);
  const Store store(late, Access::read);
  const TrialRecord trial = fixture_trial(1, "A", 1e-3);
  const auto found = store.trials(
      {trial.problem, trial.implementation, trial.machine, trial.conditions, trial.build});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].id, 1);
  EXPECT_EQ(store.latest_campaign(kFixtureMachine).value().command, "tune");
}

TEST_F(MergeTest, LeavesTheOtherFileAsItWas) {
  const auto a = made("a.db", {"A", "B"});
  const auto b = made("b.db", {"C"});
  const auto bytes = [&] {
    std::ifstream in(b, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  const std::string before = bytes();
  fs::permissions(b, fs::perms::owner_read);
  merge(a, b);
  EXPECT_EQ(bytes(), before);
}

TEST_F(MergeTest, WhatAnotherWriterHasNotClosedYetIsThere) {
  const auto a = made("a.db", {"A"});
  Store open(path("b.db"), Access::write);
  add_campaign(open, {"B"});
  EXPECT_EQ(merge(a, path("b.db")).trials, 1);
}

TEST_F(MergeTest, AnOlderSchemaIsMergedFromACopy) {
  std::ifstream in(std::string(OLD_VERSIONS) + "/version1.sql");
  const std::string sql{std::istreambuf_iterator<char>(in), {}};
  for (const char* name : {"old.db", "older.db"}) {
    SQLite::Database(path(name).string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(sql);
  }
  {
    const Store updated(path("older.db"), Access::write);
  }  // one of two copies is brought up to date
  EXPECT_EQ(merge(path("all.db"), path("old.db")).trials, 1);
  EXPECT_EQ(merge(path("all.db"), path("older.db")), Merged{});
  EXPECT_EQ(SQLite::Database(path("old.db").string()).execAndGet("PRAGMA user_version").getInt(),
            1);
  for (const auto& entry : fs::directory_iterator(path("")))
    EXPECT_EQ(entry.path().string().find("merging"), std::string::npos) << entry.path();
}

TEST_F(MergeTest, RefusesWhatCanNotBeMergedAndMakesNoFile) {
  const auto a = made("a.db", {"A"});
  EXPECT_NE(refusal(a, a).find("into itself"), std::string::npos);
  EXPECT_NE(refusal(path("x.db"), path("none.db")).find("none.db' does not exist"),
            std::string::npos);
  const auto newer = copy(a, "newer.db");
  SQLite::Database(newer.string(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 99");
  EXPECT_NE(refusal(path("x.db"), newer).find("newer.db' is of a newer loopbrick"),
            std::string::npos);
  const auto damaged = copy(a, "damaged.db");
  SQLite::Database(damaged.string(), SQLite::OPEN_READWRITE)
      .exec("PRAGMA foreign_keys = OFF; DELETE FROM machine");
  EXPECT_NE(refusal(path("x.db"), damaged).find("damaged.db' is damaged"), std::string::npos);
  EXPECT_FALSE(fs::exists(path("x.db")));
}

TEST_F(MergeTest, RefusesAnotherTrialUnderTheSameIdentityAndChangesNothing) {
  const auto a = made("a.db", {"A", "B"});
  const auto b = copy(a, "b.db");
  {
    Store store(b, Access::write);
    add_campaign(store, {"C"});
  }
  SQLite::Database(b.string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE trial SET choice = 'changed' WHERE id = 2");
  const std::string before = contents(a);
  EXPECT_NE(refusal(a, b).find("trial 2 of '" + a.string()), std::string::npos) << refusal(a, b);
  EXPECT_EQ(contents(a), before);
}

TEST_F(MergeTest, WhatWasImportedIsMergedToo) {
  const WisdomRecord entry{.machine = "elsewhere", .problem = "p", .schedule = "S", .seconds = 1.0};
  const fs::path file = made("a.db", {"A"});
  Store(file, Access::write).add_wisdom({entry});
  const fs::path both = merged("both.db", {file, made("b.db", {"B"}), file});
  EXPECT_EQ(Store(both, Access::read).wisdom("p"), std::vector{entry});
}

}  // namespace
}  // namespace loopbrick
