// docs/schema.md names what is there, and every query of docs/queries.md runs and gives the columns
// that it shows.
#include <gtest/gtest.h>

#include <fmt/format.h>
#include <fstream>

#include "results/fixture.h"
#include "results/test_folder.h"

namespace loopbrick {
namespace {

using Names = std::vector<std::string>;

Names lines_of(const std::string& page) {
  std::ifstream in(std::string(DOCS) + "/" + page);
  Names lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The texts between pairs of `mark` in a line.
Names between(const std::string& line, char mark) {
  Names names;
  for (std::size_t start = line.find(mark); start != std::string::npos;) {
    const std::size_t end = line.find(mark, start + 1);
    if (end == std::string::npos) break;
    names.push_back(line.substr(start + 1, end - start - 1));
    start = line.find(mark, end + 1);
  }
  return names;
}

/// The cells of "| a | b |".
Names cells_of(const std::string& line) {
  Names cells;
  for (std::size_t start = 2; start < line.size();) {
    const std::size_t end = line.find(" |", start);
    if (end == std::string::npos) break;
    cells.push_back(line.substr(start, end - start));
    start = end + 3;
  }
  return cells;
}

class Documents : public TestFolder {
 protected:
  Documents() : store(path("results.db"), Access::write) {
    write_fixture(store, {"fwd"}, {"onednn", "onednn-nhwc", "eigen", "im2col", "small-gemm"});
  }
  Names column(const std::string& sql) const {
    Names values;
    for (const auto& row : store.query(sql).rows) values.push_back(row.at(0).value());
    return values;
  }
  Names columns_of(const std::string& relation) const {
    return store.query("SELECT * FROM " + relation + " LIMIT 0").columns;
  }

  Store store;
};

/// Under "### `name`": the first cells of its table, or the names after "Columns:".
Names documented_columns(const std::string& relation) {
  Names columns;
  bool is_here = false;
  bool is_list = false;
  for (const std::string& line : lines_of("schema.md")) {
    if (line.starts_with("#")) is_here = line == "### `" + relation + "`";
    if (!is_here) continue;
    is_list = (is_list && !line.empty()) || line.starts_with("Columns:");
    const Names names = between(line, '`');
    if (line.starts_with("| `")) columns.push_back(names.at(0));
    if (is_list) columns.insert(columns.end(), names.begin(), names.end());
  }
  return columns;
}

TEST_F(Documents, TheSchemaPageNamesEveryColumnInOrder) {
  const Names relations =
      column("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name");
  EXPECT_EQ(relations.size(), 20U);
  for (const std::string& relation : relations)
    EXPECT_EQ(documented_columns(relation), columns_of(relation)) << relation;
}

TEST_F(Documents, TheSchemaPageNamesNothingElse) {
  for (const std::string& line : lines_of("schema.md")) {
    if (!line.starts_with("### `")) continue;
    EXPECT_NO_THROW(columns_of(between(line, '`').at(0))) << line;
  }
}

TEST_F(Documents, EveryTableIsStrict) {
  EXPECT_EQ(
      column("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '% STRICT%'"),
      Names{});
}

struct Example {
  std::string sql;
  Names columns;  ///< header of the table that follows it
};

std::vector<Example> examples() {
  std::vector<Example> found;
  bool is_sql = false;
  for (const std::string& line : lines_of("queries.md")) {
    if (line == "```sql") {
      found.emplace_back();
      is_sql = true;
    } else if (line == "```") {
      is_sql = false;
    } else if (is_sql) {
      found.back().sql += line + "\n";
    } else if (line.starts_with("|") && !found.empty() && found.back().columns.empty()) {
      found.back().columns = cells_of(line);
    }
  }
  return found;
}

TEST_F(Documents, EveryQueryOfThePageAnswersAsShown) {
  EXPECT_GE(examples().size(), 10U);
  for (const Example& example : examples()) {
    const Table table = store.query(example.sql);
    EXPECT_EQ(table.columns, example.columns) << example.sql;
    EXPECT_FALSE(table.rows.empty()) << example.sql;
  }
}

}  // namespace
}  // namespace loopbrick
