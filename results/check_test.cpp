#include "results/check.h"

#include <gtest/gtest.h>

#include <SQLiteCpp/Database.h>
#include <algorithm>
#include <map>

#include "results/description.h"
#include "results/fixture.h"
#include "results/test_folder.h"

namespace loopbrick {
namespace {

class Check : public TestFolder {
 protected:
  Check() : file(path("results.db")) {
    Store store(file, Access::write);
    write_fixture(store, {"fwd"}, {"onednn"});
  }

  /// The checks that find something after `sql` was run, and their first examples.
  std::map<std::string, std::string> faults_after(const std::string& sql) const {
    std::filesystem::copy_file(file, path("changed.db"),
                               std::filesystem::copy_options::overwrite_existing);
    SQLite::Database(path("changed.db").string(), SQLite::OPEN_READWRITE)
        .exec("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; " + sql);
    std::map<std::string, std::string> faults;
    for (const Finding& finding : check_database(path("changed.db"))) {
      if (finding.faults > 0) faults[finding.check] = finding.example;
    }
    return faults;
  }

  std::filesystem::path file;
};

TEST_F(Check, FindsNothingInAGoodDatabase) {
  EXPECT_EQ(faults_after("SELECT 1"), (std::map<std::string, std::string>{}));
}

TEST_F(Check, EveryRuleFindsWhatBreaksIt) {
  const std::vector<std::pair<const char*, std::pair<const char*, const char*>>> kBreaks{
      {"UPDATE campaign SET key = '' WHERE id = 2", {"every campaign has a key", "campaign 2"}},
      {"UPDATE trial SET number = 0 WHERE id = 3", {"every trial has a number", "trial 3"}},
      {"UPDATE trial SET reason = ' ' WHERE id = 23",
       {"outcomes but 'ok' have a reason", "trial 23"}},
      {"UPDATE trial SET outcome = 'fine', reason = 'x' WHERE id = 5",
       {"outcomes are the known ones", "trial 5"}},
      {"UPDATE sample SET seconds = -1 WHERE rowid = 1",
       {"times and ratios are above 0", "trial 1"}},
      {"UPDATE trial SET search_n = 0, search_median = NULL WHERE id = 1; DELETE FROM sample WHERE"
       " trial = 1",
       {"trials with outcome 'ok' have a time", "trial 1"}},
      {"UPDATE trial SET search_hi = search_lo WHERE id = 2",
       {"a median lies in its interval, above the minimum", "trial 2"}},
      {"UPDATE trial SET search_lo = NULL WHERE id = 2",
       {"a median lies in its interval, above the minimum", "trial 2"}},
      {"DELETE FROM sample WHERE rowid = 1",
       {"every trial has the samples that it counts", "trial 1"}},
      {"INSERT INTO build SELECT 'other', version, revision, compiler, build_type, generator FROM"
       " build LIMIT 1; UPDATE trial SET build = 'other' WHERE id = 4",
       {"a trial has the machine and build of its campaign", "trial 4"}},
      {"UPDATE trial SET problem = 'another' WHERE id = (SELECT other FROM comparison WHERE id = "
       "1)",
       {"compared trials have one problem, machine and conditions", "comparison 1"}},
      {"UPDATE comparison SET lo = hi WHERE id = 5",
       {"a ratio lies in its interval", "comparison 5"}},
      {"UPDATE campaign SET how = NULL WHERE id = 1",
       {"a campaign that ended says how", "campaign 1"}},
      {"UPDATE trial SET taken = 'yesterday' WHERE id = 1",
       {"instants are UTC like 2026-01-31T12:00:00.000Z", "trial 1"}},
      {"DROP INDEX trial_confirmed",
       {"the schema is that of its version", "index trial_confirmed"}},
      {"CREATE TABLE more(x)", {"the schema is that of its version", "table more"}}};
  for (const auto& [sql, expected] : kBreaks) {
    const auto faults = faults_after(
        std::string(sql) + "; DELETE FROM effort; INSERT INTO effort SELECT * FROM recount");
    EXPECT_EQ(faults, (std::map<std::string, std::string>{{expected.first, expected.second}}))
        << sql;
  }
}

TEST_F(Check, WhatIsDerivedIsCountedAnewByAnUpdate) {
  EXPECT_EQ(faults_after("DELETE FROM sample WHERE trial = 1; DELETE FROM trial WHERE id = 1"),
            (std::map<std::string, std::string>{
                {"efforts are what the trials add up to",
                 "campaign 1 on conv fwd f32 mb2ic3ih224oc64oh112kh7sh2ph3"}}));
  update_database(path("changed.db"));
  for (const Finding& finding : check_database(path("changed.db")))
    EXPECT_EQ(finding.faults, 0) << finding.check << ": " << finding.example;
}

TEST_F(Check, RowsThatNameNothingAreFound) {
  EXPECT_EQ(faults_after("DELETE FROM machine").at("references between tables hold"),
            "campaign row 1 names no machine");
}

TEST_F(Check, ADescriptionCountsWhatIsThere) {
  std::map<std::string, std::string> facts;
  for (const auto& row : describe_database(file).rows) facts[row[0].value()] = row[1].value();
  EXPECT_EQ(facts["campaigns"], "3");
  EXPECT_EQ(facts["trials"], "168");
  EXPECT_EQ(facts["failed"], "6");
  EXPECT_EQ(facts["confirmed"], "42");
  EXPECT_EQ(facts["problems"], "20");
  EXPECT_EQ(facts["machine"], std::string(kFixtureMachine) + ": 168 trials");
}

}  // namespace
}  // namespace loopbrick
