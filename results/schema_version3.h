#pragma once
#include <string_view>

namespace loopbrick {

/// Schedules that were imported from elsewhere. Their machines and builds need not be known here.
inline constexpr std::string_view kVersion3 = R"sql(
CREATE TABLE wisdom(
  problem    TEXT NOT NULL,
  conditions TEXT NOT NULL,
  machine    TEXT NOT NULL,
  schedule   TEXT NOT NULL,
  build      TEXT NOT NULL,
  seconds    REAL NOT NULL CHECK (seconds > 0),
  imported   TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ')),
  PRIMARY KEY (problem, conditions, machine, schedule)
) STRICT, WITHOUT ROWID;
)sql";

}  // namespace loopbrick
