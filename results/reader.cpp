#include "results/reader.h"

#include <sqlite3.h>

#include <SQLiteCpp/Database.h>
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>

namespace loopbrick {

namespace {

struct Finalize {
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};
using Prepared = std::unique_ptr<sqlite3_stmt, Finalize>;

bool is_harmless_pragma(std::string_view name, bool has_argument) {
  constexpr std::array kDescribing{"table_info", "table_xinfo", "table_list",      "index_list",
                                   "index_info", "index_xinfo", "foreign_key_list"};
  constexpr std::array kValues{"user_version",     "application_id",  "page_size",
                               "page_count",       "integrity_check", "quick_check",
                               "foreign_key_check"};
  const auto has = [&](const auto& names) { return std::ranges::find(names, name) != names.end(); };
  return has(kDescribing) || (!has_argument && has(kValues));
}

int authorize(void*, int action, const char* first, const char* second, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return std::string_view(second) == "load_extension" ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA:
      return is_harmless_pragma(first, second != nullptr) ? SQLITE_OK : SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

[[noreturn]] void refuse_sql(sqlite3* connection, int code) {
  if (code == SQLITE_AUTH)
    throw BadDatabase("SQL is for reading only: this statement would do more");
  throw BadDatabase(fmt::format("SQL error: {}", sqlite3_errmsg(connection)));
}

Prepared prepare(sqlite3* connection, const char* sql, const char** rest) {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v2(connection, sql, -1, &raw, rest);
  Prepared statement(raw);
  if (code != SQLITE_OK) refuse_sql(connection, code);
  return statement;
}

/// The one statement in `sql`; blanks and comments may follow it.
Prepared prepare_only(sqlite3* connection, const std::string& sql) {
  const char* rest = nullptr;
  Prepared statement = prepare(connection, sql.c_str(), &rest);
  if (!statement) throw BadDatabase("SQL is empty: expected a SELECT");
  while (*rest != '\0') {
    const char* more = rest;
    if (prepare(connection, more, &rest)) {
      throw BadDatabase(fmt::format("SQL holds more than one statement: '{}'", more));
    }
    if (rest == more) break;
  }
  if (sqlite3_stmt_readonly(statement.get()) == 0) refuse_sql(connection, SQLITE_AUTH);
  return statement;
}

void bind(sqlite3_stmt* statement, const std::vector<std::string>& parameters) {
  const auto wanted = static_cast<std::size_t>(sqlite3_bind_parameter_count(statement));
  if (parameters.size() > wanted) {
    throw BadDatabase(
        fmt::format("SQL has {} parameters, {} values were given", wanted, parameters.size()));
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].empty()) continue;
    sqlite3_bind_text(statement, static_cast<int>(i) + 1, parameters[i].c_str(), -1,
                      SQLITE_TRANSIENT);
  }
}

/// After the last row: an error in computing it is the SQL's, all others are the world's.
void check_end(sqlite3* connection, int code) {
  const int kind = code & 0xff;
  if (kind == SQLITE_ERROR || kind == SQLITE_MISMATCH || kind == SQLITE_TOOBIG) {
    refuse_sql(connection, code);
  }
  if (kind != SQLITE_DONE) throw SQLite::Exception(connection, code);
}

/// As SQL writes it, x'0aff': bytes are no text.
std::string hex(std::string_view bytes) {
  std::string text = "x'";
  for (const char byte : bytes) {
    text += fmt::format("{:02x}", static_cast<unsigned>(static_cast<unsigned char>(byte)));
  }
  return text + "'";
}

std::optional<std::string> cell(sqlite3_stmt* statement, int column) {
  if (sqlite3_column_type(statement, column) == SQLITE_BLOB) {
    const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
    return hex({bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement, column))});
  }
  const auto* text = sqlite3_column_text(statement, column);
  if (text == nullptr) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(text),
                     static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
}

}  // namespace

void allow_reading_only(SQLite::Database& database) {
  sqlite3_set_authorizer(database.getHandle(), authorize, nullptr);
}

Table read_table(SQLite::Database& database, const std::string& sql,
                 const std::vector<std::string>& parameters) {
  sqlite3* connection = database.getHandle();
  const Prepared statement = prepare_only(connection, sql);
  bind(statement.get(), parameters);
  const int columns = sqlite3_column_count(statement.get());
  Table table;
  for (int i = 0; i < columns; ++i)
    table.columns.emplace_back(sqlite3_column_name(statement.get(), i));
  int code = SQLITE_ROW;
  while ((code = sqlite3_step(statement.get())) == SQLITE_ROW) {
    auto& row = table.rows.emplace_back();
    for (int i = 0; i < columns; ++i) row.push_back(cell(statement.get(), i));
  }
  check_end(connection, code);
  return table;
}

}  // namespace loopbrick
