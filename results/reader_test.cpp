#include <gtest/gtest.h>

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <chrono>
#include <map>
#include <thread>

#include "results/fixture.h"
#include "results/test_folder.h"

namespace loopbrick {
namespace {

class Reader : public TestFolder {
 protected:
  Reader() : store(path("results.db"), Access::write) {
    write_fixture(store, {"fwd"}, {"onednn", "onednn-nhwc", "eigen", "im2col", "small-gemm"});
  }

  std::string refusal(const std::string& sql,
                      const std::vector<std::string>& parameters = {}) const {
    try {
      store.query(sql, parameters);
      return "";
    } catch (const BadDatabase& error) {
      return error.what();
    }
  }

  Store store;
};

TEST_F(Reader, BlobsAreHex) {
  const Table table = store.query("SELECT x'000aff', x'', CAST('12' AS BLOB)");
  EXPECT_EQ(table.rows[0][0], "x'000aff'");
  EXPECT_EQ(table.rows[0][1], "x''");
  EXPECT_EQ(table.rows[0][2], "x'3132'");
}

TEST_F(Reader, NothingTypedCanWrite) {
  const std::string before = *store.query("SELECT count(*) FROM trial").rows[0][0];
  for (const char* sql : {"DELETE FROM trial",
                          "UPDATE trial SET outcome = 'ok'",
                          "INSERT INTO layer VALUES ('a', 'b', 'c', 1)",
                          "DROP TABLE sample",
                          "CREATE TABLE x(y)",
                          "CREATE TEMP TABLE x(y)",
                          "ALTER TABLE trial RENAME TO x",
                          "ATTACH 'other.db' AS other",
                          "ATTACH ':memory:' AS other",
                          "ATTACH '' AS other",
                          "DETACH main",
                          "CREATE INDEX x ON trial(id)",
                          "CREATE VIEW x AS SELECT 1",
                          "CREATE TEMP VIEW x AS SELECT 1",
                          "CREATE TRIGGER x AFTER INSERT ON trial BEGIN SELECT 1; END",
                          "CREATE VIRTUAL TABLE x USING fts5(y)",
                          "DROP VIEW best",
                          "DROP INDEX trial_by_key",
                          "ALTER TABLE trial ADD COLUMN x",
                          "ALTER TABLE trial DROP COLUMN flag",
                          "REPLACE INTO layer VALUES ('a', 'b', 'c', 1)",
                          "INSERT INTO layer VALUES ('a', 'b', 'c', 1) ON CONFLICT DO NOTHING",
                          "INSERT INTO layer VALUES ('a', 'b', 'c', 1) RETURNING *",
                          "DELETE FROM trial RETURNING id",
                          "UPDATE sqlite_schema SET sql = ''",
                          "COMMIT",
                          "END",
                          "ROLLBACK",
                          "RELEASE x",
                          "VACUUM",
                          "VACUUM INTO 'copy.db'",
                          "BEGIN",
                          "BEGIN IMMEDIATE",
                          "SAVEPOINT x",
                          "REINDEX",
                          "ANALYZE",
                          "PRAGMA query_only = OFF",
                          "PRAGMA user_version = 7",
                          "PRAGMA journal_mode = DELETE",
                          "PRAGMA wal_checkpoint",
                          "PRAGMA optimize",
                          "PRAGMA writable_schema = ON",
                          "WITH x AS (SELECT 1) DELETE FROM trial",
                          "EXPLAIN DELETE FROM trial",
                          "SELECT load_extension('x')"}) {
    EXPECT_NE(refusal(sql), "") << sql;
  }
  EXPECT_FALSE(std::filesystem::exists("other.db") || std::filesystem::exists("copy.db"));
  EXPECT_EQ(*store.query("SELECT count(*) FROM trial").rows[0][0], before);
}

/// Whatever PRAGMA SQLite knows, set to whatever value: refused, or it only describes.
TEST_F(Reader, NoPragmaCanBeSet) {
  const std::string before = *store.query("SELECT group_concat(sql) FROM sqlite_schema").rows[0][0];
  SQLite::Database own(":memory:");
  SQLite::Statement names(own, "PRAGMA pragma_list");
  int refused = 0;
  while (names.executeStep()) {
    const std::string name = names.getColumn(0).getString();
    const bool describes = name.ends_with("_info") || name.ends_with("_list") ||
                           name.ends_with("_xinfo") || name == "foreign_key_list";
    for (const std::string& sql : {"PRAGMA " + name + " = 1", "PRAGMA " + name + "(trial)",
                                   "PRAGMA main." + name + " = 'delete'"}) {
      if (describes && refusal(sql).empty()) continue;
      EXPECT_NE(refusal(sql), "") << sql;
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
  EXPECT_EQ(*store.query("SELECT group_concat(sql) FROM sqlite_schema").rows[0][0], before);
  EXPECT_EQ(store.journal_mode(), "wal");
}

TEST_F(Reader, NoFunctionReachesOutOfTheFile) {
  for (const char* sql :
       {"SELECT load_extension('libc.so.6')", "SELECT readfile('/etc/passwd')",
        "SELECT writefile('x', 'y')", "SELECT edit('x')", "SELECT fts3_tokenizer('simple', x'00')",
        "SELECT * FROM pragma_journal_mode('delete')", "SELECT * FROM pragma_query_only(0)",
        "SELECT * FROM pragma_user_version(3)",
        "WITH x AS (SELECT load_extension('x')) SELECT * FROM x",
        "SELECT 1 ORDER BY load_extension('x')",
        "SELECT count(*) FROM trial WHERE load_extension('x')"}) {
    EXPECT_NE(refusal(sql), "") << sql;
  }
}

TEST_F(Reader, ReadsWhatDescribes) {
  EXPECT_FALSE(store.query("PRAGMA table_info(trial)").rows.empty());
  EXPECT_FALSE(store.query("SELECT name FROM sqlite_schema").rows.empty());
  EXPECT_EQ(store.query("PRAGMA integrity_check").rows[0][0], "ok");
  EXPECT_FALSE(store.query("EXPLAIN QUERY PLAN SELECT * FROM best").rows.empty());
}

TEST_F(Reader, WrongSqlGivesTheReason) {
  EXPECT_NE(refusal("SELEC 1").find("near \"SELEC\": syntax error"), std::string::npos);
  EXPECT_NE(refusal("SELECT x FROM trial").find("no such column: x"), std::string::npos);
  EXPECT_NE(refusal("SELECT abs(-9223372036854775807 - 1)").find("integer overflow"),
            std::string::npos);
  EXPECT_NE(refusal("").find("empty"), std::string::npos);
  EXPECT_NE(refusal("-- nothing").find("empty"), std::string::npos);
  EXPECT_NE(refusal("DELETE FROM trial").find("reading only"), std::string::npos);
}

TEST_F(Reader, TakesOneStatement) {
  EXPECT_EQ(store.query("SELECT 1 ; -- done\n ").rows.size(), 1U);
  EXPECT_NE(refusal("SELECT 1; SELECT 2").find("more than one statement"), std::string::npos);
  EXPECT_NE(refusal("SELECT 1; DROP TABLE trial"), "");
  EXPECT_NE(refusal("SELECT 1; nonsense"), "");
}

TEST_F(Reader, GivesNullAsNothing) {
  const Table table = store.query("SELECT NULL AS a, '' AS b, 0.5 AS c");
  EXPECT_EQ(table.columns, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(table.rows,
            (std::vector<std::vector<std::optional<std::string>>>{{std::nullopt, "", "0.5"}}));
}

TEST_F(Reader, EmptyAndMissingParametersAreNull) {
  const std::string sql = "SELECT :a, :b IS NULL, :c IS NULL, :a";
  EXPECT_EQ(store.query(sql, {"x", ""}).rows[0],
            (std::vector<std::optional<std::string>>{"x", "1", "1", "x"}));
  EXPECT_NE(refusal(sql, {"1", "2", "3", "4"}).find("3 parameters, 4 values"), std::string::npos);
}

TEST_F(Reader, SeesWhatWasWrittenAfterItWasOpened) {
  const std::string sql = "SELECT count(*) FROM campaign";
  EXPECT_EQ(store.query(sql).rows[0][0], "3");
  store.add_campaign(fixture_campaign("another"));
  EXPECT_EQ(store.query(sql).rows[0][0], "4");
}

TEST_F(Reader, SavedQueriesHaveTheNamesThatAreDocumented) {
  std::vector<std::string_view> names;
  for (const auto& saved : saved_queries()) names.push_back(saved.name);
  EXPECT_EQ(names,
            (std::vector<std::string_view>{"best", "layers", "speedup", "failures", "coverage",
                                           "history", "repeats", "campaigns", "samples", "model"}));
}

TEST_F(Reader, SavedQueriesAskByMachineAndProblem) {
  const std::string problem = "conv fwd f32 mb2ic64ih56oc64oh56kh3sh1ph1";
  const std::map<std::string_view, std::size_t> rows_of_one{
      {"best", 6},     {"layers", 1},    {"speedup", 5},
      {"failures", 0}, {"coverage", 6},  {"history", 7},
      {"repeats", 1},  {"campaigns", 3}, {"samples", 6 * 3 + 6 * 9 + 2},
      {"model", 1}};
  for (const auto& [name, sentence, sql] : saved_queries()) {
    const auto rows = [&, text = std::string(sql)](const std::string& machine,
                                                   const std::string& what) {
      return store.query(text, {machine, what}).rows.size();
    };
    EXPECT_GE(rows("", ""), 1U) << name;
    EXPECT_EQ(rows(kFixtureMachine, ""), rows("", "")) << name;
    EXPECT_EQ(rows("another", ""), 0U) << name;
    EXPECT_EQ(rows("", problem), rows_of_one.at(name)) << name;
    EXPECT_FALSE(sentence.empty()) << name;
  }
}

TEST_F(Reader, LayersComeInTheirOrderWithTheBetterPeer) {
  const Table table = store.query(
      "SELECT layer, peer, peer_gflops = max(a.gflops, b.gflops) FROM layers"
      " JOIN best AS a ON a.problem = layers.problem AND a.implementation = 'onednn'"
      " JOIN best AS b ON b.problem = layers.problem AND b.implementation = 'onednn-nhwc'");
  ASSERT_EQ(table.rows.size(), 20U);
  for (const auto& row : table.rows) EXPECT_EQ(row[2], "1") << *row[0] << *row[1];
}

TEST_F(Reader, SharesOfThePeakFollowFromTimeAndProbe) {
  EXPECT_EQ(store
                .query("SELECT count(*) FROM best JOIN trial ON trial.id = best.trial WHERE"
                       " abs(pct_of_peak - 100 * flops / confirmed_median / peak_flops) > 1e-9"
                       " OR abs(gflops * 1e9 * median_s - flops) > 1")
                .rows[0][0],
            "0");
  EXPECT_EQ(store.query("SELECT count(*) FROM layers WHERE executed_pct_of_peak < pct_of_peak")
                .rows[0][0],
            "4");
}

/// One search trial per prediction, in the order of `seconds`.
Table model_of(Store& store, const std::vector<double>& predicted,
               const std::vector<double>& seconds) {
  const auto campaign = store.add_campaign(fixture_campaign("model"));
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    TrialRecord trial = fixture_trial(campaign, "choice " + std::to_string(i), seconds[i]);
    trial.problem = "model " + std::to_string(campaign);
    trial.predicted = predicted[i];
    store.add_trial(trial);
  }
  return store.query(
      "SELECT round(regret_pct, 6), round(rank_correlation, 6) FROM model WHERE problem = ?",
      {"model " + std::to_string(campaign)});
}

TEST_F(Reader, ModelKnowsTheRegretOfItsFirstTen) {
  std::vector<double> predicted(12), seconds(12, 20.0);
  for (std::size_t i = 0; i < 12; ++i) predicted[i] = 1.0 + static_cast<double>(i);
  seconds[9] = 15.0;   // the tenth
  seconds[10] = 10.0;  // and one too late
  model_of(store, predicted, seconds);
  EXPECT_EQ(
      store.query("SELECT max(first_ten_regret_pct) FROM model WHERE choices = 12").rows[0][0],
      "50.0");
}

TEST_F(Reader, ModelKnowsRegretAndRankCorrelation) {
  using Row = std::vector<std::optional<std::string>>;
  EXPECT_EQ(model_of(store, {1, 2, 3}, {10, 20, 30}).rows[0], (Row{"0.0", "1.0"}));
  EXPECT_EQ(model_of(store, {3, 2, 1}, {10, 20, 30}).rows[0], (Row{"200.0", "-1.0"}));
  EXPECT_EQ(model_of(store, {1, 1, 3, 4}, {12, 10, 15, 11}).rows[0], (Row{"20.0", "0.210819"}));
  EXPECT_EQ(model_of(store, {1, 1}, {10, 10}).rows[0], (Row{"0.0", std::nullopt}));
}

using Row = std::vector<std::optional<std::string>>;

/// Search trials of these times, each a choice of its own.
void add_searched(Store& store, const std::string& problem, const std::vector<double>& seconds) {
  const auto campaign = store.add_campaign(fixture_campaign("tune"));
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    TrialRecord trial = fixture_trial(campaign, "choice " + std::to_string(i), seconds[i]);
    trial.problem = problem;
    store.add_trial(trial);
  }
}

TEST_F(Reader, CoverageTellsWhenTheBestLastImproved) {
  add_searched(store, "covered", {3.0, 1.0, 2.0, 4.0});
  store.add_space({"covered", kFixtureMachine, kFixtureConditions, 200});
  const auto row = store
                       .query(
                           "SELECT trials, choices, ok, confirmed, best_search_s, trials_since,"
                           " best_s, schedules, share_pct FROM coverage WHERE problem = 'covered'")
                       .rows.at(0);
  EXPECT_EQ(row, (Row{"4", "4", "4", "0", "1.0", "2", std::nullopt, "200", "2.0"}));
}

TEST_F(Reader, CoverageEstimatesTheGainOfAsManyTrialsAgain) {
  const auto gain = [&](const std::string& problem, const std::vector<double>& seconds) {
    add_searched(store, problem, seconds);
    return store
        .query("SELECT round(probable_gain_pct, 6), enough FROM coverage WHERE problem = ?",
               {problem})
        .rows.at(0);
  };
  // 10 / 2 + 12 / 4 + 16 / 4 = 12 is what half of the trials would have found on average.
  EXPECT_EQ(gain("steep", {16.0, 10.0, 12.0}), (Row{"20.0", "no"}));
  EXPECT_EQ(gain("one", {5.0}), (Row{"0.0", "no"}));
  std::vector<double> flat(40, 1.005);
  flat[10] = 1.0;
  EXPECT_EQ(gain("flat", flat)[1], "yes");
  flat.back() = 0.999;  // found only now
  EXPECT_EQ(gain("fresh", flat)[1], "no");
  EXPECT_EQ(gain("few", {1.0, 1.0, 1.0, 1.0})[1], "no");
}

TEST_F(Reader, CoverageCountsOverCampaigns) {
  add_searched(store, "again", {3.0, 2.0});
  add_searched(store, "again", {1.0, 4.0, 5.0});
  add_searched(store, "again", {2.0});
  EXPECT_EQ(store
                .query("SELECT trials, choices, best_search_s, trials_since, enough FROM coverage"
                       " WHERE problem = 'again'")
                .rows.at(0),
            (Row{"6", "3", "1.0", "3", "no"}));
  EXPECT_EQ(
      store.query("SELECT trials, ok, problems FROM campaigns ORDER BY id DESC LIMIT 1").rows.at(0),
      (Row{"1", "1", "1"}));
}

/// A confirmed trial of "A" by that build, which is added if it is new.
void add_confirmed(Store& store, const std::string& build, double seconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));  // what the clock of the rows shows
  store.add_build({.id = build, .commit = build + " commit"});
  CampaignRecord campaign = fixture_campaign("run");
  campaign.build = build;
  TrialRecord trial = fixture_trial(store.add_campaign(campaign), "A", seconds);
  trial.problem = "built";
  trial.build = build;
  trial.confirmed = {.n = 9,
                     .median = seconds,
                     .lo = 0.99 * seconds,
                     .hi = 1.01 * seconds,
                     .min = seconds,
                     .processes = 3};
  store.add_trial(trial);
}

TEST_F(Reader, HistoryComparesTheBestOfEachBuildWithTheOneBefore) {
  for (const double seconds : {4.0, 5.0}) add_confirmed(store, "first", seconds);
  add_confirmed(store, "second", 2.0);
  add_confirmed(store, "a third", 8.0);
  EXPECT_EQ(store
                .query("SELECT revision, median_s, over_previous, trials FROM history"
                       " WHERE problem = 'built' ORDER BY since")
                .rows,
            (std::vector<Row>{{"first commit", "4.0", std::nullopt, "2"},
                              {"second commit", "2.0", "2.0", "1"},
                              {"a third commit", "8.0", "0.25", "1"}}));
}

TEST_F(Reader, RepeatsAreThoseWhoseIntervalsDoNotMeet) {
  add_confirmed(store, "first", 1.0);
  add_confirmed(store, "first", 1.015);
  add_confirmed(store, "second", 1.1);  // another build is no repeat
  const std::string sql =
      "SELECT times, fastest_s, slowest_s, round(apart_pct, 4) FROM repeats"
      " WHERE problem = 'built'";
  EXPECT_TRUE(store.query(sql).rows.empty());
  add_confirmed(store, "first", 1.1);
  EXPECT_EQ(store.query(sql).rows, (std::vector<Row>{{"3", "1.0", "1.1", "7.8218"}}));
}

TEST_F(Reader, FailuresCountAndKeepTheFirstReason) {
  const auto campaign = store.add_campaign(fixture_campaign("tune"));
  for (const char* reason : {"first", "second"}) {
    TrialRecord trial = fixture_trial(campaign, reason, 1.0);
    trial.problem = "failing";
    trial.outcome = "crashed";
    trial.reason = reason;
    store.add_trial(trial);
  }
  const auto row = store
                       .query(
                           "SELECT outcome, count, first_reason, first_choice FROM failures"
                           " WHERE problem = 'failing'")
                       .rows.at(0);
  EXPECT_EQ(row, (std::vector<std::optional<std::string>>{"crashed", "2", "first", "first"}));
}

}  // namespace
}  // namespace loopbrick
