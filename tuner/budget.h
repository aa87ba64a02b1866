#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace loopbrick {

/// What a command may spend; whichever ends first. 0: no such limit.
struct Budget {
  double seconds = 0.0;
  std::int64_t trials = 0;
  std::int64_t stale = 0;  ///< of one layer: trials in a row that bring no gain, until it is left

  friend bool operator==(const Budget&, const Budget&) = default;
};

/// "60s", "2m", "1h", "200trials", "40stale", or several of them: "60s,200trials,40stale".
///
/// Errors  throws ParseError that names the piece that is no budget, stands twice, or is zero.
Budget parse_budget(std::string_view text);
std::string to_string(const Budget& budget);

}  // namespace loopbrick
