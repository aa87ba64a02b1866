#include "results/description.h"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <array>
#include <fmt/format.h>

#include "results/database_file.h"
#include "results/schema.h"

namespace loopbrick {

namespace {

struct Fact {
  const char* name;
  const char* sql;  ///< one value; several rows are several facts
};

constexpr std::array kFacts{
    Fact{"campaigns", "SELECT count(*) FROM campaign"},
    Fact{"not ended", "SELECT count(*) FROM campaign WHERE ended IS NULL"},
    Fact{"trials", "SELECT count(*) FROM trial"},
    Fact{"failed", "SELECT count(*) FROM trial WHERE outcome <> 'ok'"},
    Fact{"confirmed", "SELECT count(*) FROM trial WHERE outcome = 'ok' AND confirmed_n > 0"},
    Fact{"samples", "SELECT count(*) FROM sample"},
    Fact{"comparisons", "SELECT count(*) FROM comparison"},
    Fact{"problems", "SELECT count(DISTINCT problem) FROM trial"},
    Fact{"first trial", "SELECT min(taken) FROM trial"},
    Fact{"last trial", "SELECT max(taken) FROM trial"},
    Fact{"machine",
         "SELECT id || ': ' || (SELECT count(*) FROM trial WHERE machine = machine.id) || ' trials'"
         " FROM machine ORDER BY id"},
    Fact{"build",
         "SELECT id || ': ' || (SELECT count(*) FROM trial WHERE build = build.id) || ' trials'"
         " FROM build ORDER BY id"},
};

std::string schema_text(SQLite::Database& database) {
  const auto version = schema_version(database);
  const auto known = static_cast<std::int64_t>(migrations().size());
  if (version == known) return std::to_string(version);
  return fmt::format("{}, this loopbrick writes {}", version, known);
}

}  // namespace

Table describe_database(const std::filesystem::path& file) {
  const auto database = open_reader(file, Schemas::older_too);
  Table table{.columns = {"fact", "value"}, .rows = {}};
  with_file_named(file, database.get(), [&] {
    table.rows.push_back({"file", file.string()});
    table.rows.push_back({"bytes", std::to_string(std::filesystem::file_size(file))});
    table.rows.push_back({"schema", schema_text(*database)});
    table.rows.push_back({"journal", database->execAndGet("PRAGMA journal_mode").getString()});
    for (const Fact& fact : kFacts) {
      SQLite::Statement rows(*database, fact.sql);
      while (rows.executeStep()) {
        if (!rows.isColumnNull(0)) table.rows.push_back({fact.name, rows.getColumn(0).getString()});
      }
    }
  });
  return table;
}

}  // namespace loopbrick
