#pragma once
#include <string>
#include <vector>

#include "results/store.h"

namespace SQLite {
class Database;
}

namespace loopbrick {

/// From now on this connection refuses every statement but those that read this one file.
void allow_reading_only(SQLite::Database& database);

/// One statement's rows as texts.
///
/// Errors  throws BadDatabase with SQLite's message for wrong SQL, two statements, too many
/// parameters.
Table read_table(SQLite::Database& database, const std::string& sql,
                 const std::vector<std::string>& parameters);

}  // namespace loopbrick
