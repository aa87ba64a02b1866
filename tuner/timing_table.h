#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tuner/space.h"

namespace loopbrick {

/// One point of a table.
struct TimingRow {
  Point point;
  std::string schedule;
  double predicted = 0.0;  ///< seconds, by the model of the build that measured
  double seconds = 0.0;    ///< median; 0: it failed
  bool confirmed = false;  ///< from interleaved rounds, after it was chosen for them
};

/// A space that was measured whole: what strategies are rehearsed on instead of the machine.
///
/// It stands by itself: choices and values are texts, so that it can be read wherever the space it
/// was measured on has changed since.
/// Text  CSV. First lines like "# problem: conv fwd f32 ..." (facts), among them one a choice with
///       its values in order, "# choice order: k n | n k" or "# refinement ..."; then a header of
///       the names of the choices and `schedule,predicted_s,seconds,confirmed`; then one line a
///       point, in the order of a walk.
struct TimingTable {
  std::string name;
  std::vector<std::pair<std::string, std::string>>
      facts;  ///< problem, conditions, fixed choices, ...
  std::vector<Choice> choices;
  std::vector<TimingRow> rows;
};

/// Errors  throws ParseError with name and line where the text is no table, a point stands twice,
/// or
///         no row has a time.
TimingTable parse_timing_table(std::string_view name, std::string_view text);
std::string to_string(const TimingTable& table);

/// The points of the table as a space that predicts what the table says. The table must outlive it.
Space space_of(const TimingTable& table);

/// The row of a point of space_of(table).
const TimingRow& row_of(const TimingTable& table, const Point& point);

/// The fastest time of the table: of the confirmed ones, where there are any.
double best_seconds(const TimingTable& table);

}  // namespace loopbrick
