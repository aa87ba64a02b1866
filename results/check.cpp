#include "results/check.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string_view>

#include "results/database_file.h"
#include "results/schema.h"

namespace loopbrick {

namespace {

/// A rule about rows: its SQL lists the rows that break it, one text each.
struct Rule {
  std::string_view check;
  std::string_view sql;
};

constexpr std::array kRules{
    Rule{"every campaign has a key", "SELECT 'campaign ' || id FROM campaign WHERE key = ''"},
    Rule{"every trial has a number", "SELECT 'trial ' || id FROM trial WHERE number < 1"},
    Rule{"outcomes are the known ones",  // a reader's integrity_check leaves out CHECK constraints
         "SELECT 'trial ' || id FROM trial WHERE outcome NOT IN ('ok', 'wrong_result', 'crashed',"
         " 'timed_out', 'out_of_memory', 'jit_failed', 'not_applicable')"},
    Rule{"times and ratios are above 0",
         "SELECT 'trial ' || id FROM trial WHERE search_median <= 0 OR confirmed_median <= 0"
         " UNION ALL SELECT 'trial ' || trial FROM sample WHERE seconds <= 0 OR calls <= 0"
         " UNION ALL SELECT 'comparison ' || id FROM comparison WHERE ratio <= 0"},
    Rule{"outcomes but 'ok' have a reason",
         "SELECT 'trial ' || id FROM trial WHERE outcome <> 'ok' AND trim(reason) = ''"},
    Rule{"trials with outcome 'ok' have a time",
         "SELECT 'trial ' || id FROM trial"
         " WHERE outcome = 'ok' AND search_median IS NULL AND confirmed_median IS NULL"},
    Rule{"a median lies in its interval, above the minimum",
         "SELECT 'trial ' || id FROM trial"
         " WHERE NOT coalesce(search_median BETWEEN search_lo AND search_hi"
         "                    AND search_min <= search_median, search_median IS NULL)"
         " OR NOT coalesce(confirmed_median BETWEEN confirmed_lo AND confirmed_hi"
         "                 AND confirmed_min <= confirmed_median, confirmed_median IS NULL)"},
    Rule{"every trial has the samples that it counts",
         "SELECT 'trial ' || id FROM trial"
         " LEFT JOIN (SELECT trial, sum(confirming) AS confirming, sum(1 - confirming) AS searching"
         "            FROM sample WHERE superseded = 0 GROUP BY trial) AS taken"
         " ON taken.trial = trial.id"
         " WHERE coalesce(confirming, 0) <> confirmed_n OR coalesce(searching, 0) <> search_n"},
    Rule{"a trial has the machine and build of its campaign",
         "SELECT 'trial ' || trial.id FROM trial JOIN campaign ON campaign.id = trial.campaign"
         " WHERE trial.machine <> campaign.machine OR trial.build <> campaign.build"},
    Rule{"compared trials have one problem, machine and conditions",
         "SELECT 'comparison ' || comparison.id FROM comparison"
         " JOIN trial AS a ON a.id = comparison.trial JOIN trial AS b ON b.id = comparison.other"
         " WHERE a.problem <> b.problem OR a.machine <> b.machine OR a.conditions <> b.conditions"},
    Rule{"a ratio lies in its interval",
         "SELECT 'comparison ' || id FROM comparison WHERE NOT ratio BETWEEN lo AND hi"},
    Rule{"efforts are what the trials add up to",  // 'db update' counts them anew
         "SELECT 'campaign ' || campaign || ' on ' || problem FROM"
         " (SELECT * FROM (SELECT * FROM effort EXCEPT SELECT * FROM recount) UNION ALL"
         "  SELECT * FROM (SELECT * FROM recount EXCEPT SELECT * FROM effort))"},
    Rule{"a campaign that ended says how",
         "SELECT 'campaign ' || id FROM campaign WHERE (ended IS NULL) <> (how IS NULL)"},
    Rule{"instants are UTC like 2026-01-31T12:00:00.000Z",
         "SELECT what FROM ("
         "  SELECT 'campaign ' || id AS what, started AS instant FROM campaign UNION ALL"
         "  SELECT 'campaign ' || id, ended FROM campaign UNION ALL"
         "  SELECT 'trial ' || id, taken FROM trial UNION ALL"
         "  SELECT 'trial ' || id, confirmed_taken FROM trial)"
         " WHERE instant NOT GLOB '[0-9]*-[0-9]*-[0-9]*T*Z' OR julianday(instant) IS NULL <> "
         "(instant IS NULL)"},
};

/// The first column of every row that `sql` gives, counted.
Finding found(SQLite::Database& database, std::string_view check, const std::string& sql) {
  Finding finding{.check = std::string(check)};
  SQLite::Statement rows(database, sql);
  while (rows.executeStep()) {
    if (finding.faults++ == 0) finding.example = rows.getColumn(0).getString();
  }
  return finding;
}

/// What a schema consists of, one row each.
constexpr auto kSchemaRows =
    "SELECT type || ' ' || name || ' ' || sql FROM sqlite_schema WHERE sql IS NOT NULL"
    " AND name NOT LIKE 'sqlite_%'";

std::set<std::string> schema_rows(SQLite::Database& database) {
  std::set<std::string> rows;
  SQLite::Statement select(database, kSchemaRows);
  while (select.executeStep()) rows.insert(select.getColumn(0).getString());
  return rows;
}

Finding check_schema(SQLite::Database& database) {
  SQLite::Database fresh(":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  migrate(fresh, migrations());
  const auto theirs = schema_rows(database);
  const auto ours = schema_rows(fresh);
  std::vector<std::string> differing;
  std::set_symmetric_difference(theirs.begin(), theirs.end(), ours.begin(), ours.end(),
                                std::back_inserter(differing));
  Finding finding{.check = "the schema is that of its version"};
  finding.faults = static_cast<std::int64_t>(differing.size());
  if (!differing.empty()) {
    const std::string& first = differing.front();
    finding.example = first.substr(0, first.find(" CREATE "));
  }
  return finding;
}

}  // namespace

std::vector<Finding> check_structure(SQLite::Database& database) {
  return {found(database, "pages and indexes are whole",
                "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'"),
          found(database, "references between tables hold",
                "SELECT \"table\" || ' row ' || rowid || ' names no ' || parent"
                " FROM pragma_foreign_key_check"),
          check_schema(database)};
}

std::vector<Finding> check_database(const std::filesystem::path& file) {
  const auto database = open_reader(file);
  std::vector<Finding> findings;
  with_file_named(file, database.get(), [&] {
    findings = check_structure(*database);
    for (const Rule& rule : kRules) {
      findings.push_back(found(*database, rule.check, std::string(rule.sql)));
    }
  });
  return findings;
}

void update_database(const std::filesystem::path& file) {
  const auto database = open_database(file, Access::write);
  with_file_named(file, database.get(), [&] {
    SQLite::Transaction transaction(*database, SQLite::TransactionBehavior::IMMEDIATE);
    database->exec("DELETE FROM effort; INSERT INTO effort SELECT * FROM recount");
    transaction.commit();
  });
}

}  // namespace loopbrick
