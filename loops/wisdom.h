#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace loopbrick {

/// A schedule that was confirmed as the fastest of its problem, somewhere. All parts are texts:
/// what another build wrote need not be what this one reads.
struct WisdomEntry {
  std::string machine;     ///< Machine::id
  std::string build;       ///< "0.1.0 abc1234 g++-12.2.0 release gen1"
  std::string conditions;  ///< "t2 avx512 warm"
  std::string problem;
  std::string schedule;
  double seconds = 0.0;  ///< median of one run, above 0

  friend bool operator==(const WisdomEntry&, const WisdomEntry&) = default;
};

/// What is known of the best schedules of many problems, in a form that outlives a database.
///
/// Text    a header "loopbrick wisdom 1 | MACHINE | BUILD", then entries
///         "CONDITIONS | PROBLEM | SCHEDULE | SECONDS", one a line. A header may come again: files
///         of several machines are joined by cat. Blank lines and lines with # are skipped.
///         parse_wisdom and to_string are inverses.
struct Wisdom {
  std::vector<WisdomEntry> entries;

  friend bool operator==(const Wisdom&, const Wisdom&) = default;
};

std::string to_string(const Wisdom& wisdom);

/// Errors  throws ParseError "line N: ..." for an entry before any header, another format version,
/// a
///         missing field or a time that is none. Whether conditions, problem and schedule can be
///         read is judge's question (loops/wisdom_fit.h).
Wisdom parse_wisdom(std::string_view text);

}  // namespace loopbrick
