#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace loopbrick {

/// What a command may spend; whichever ends first. 0: no such limit.
struct Budget {
  double seconds = 0.0;
  std::int64_t trials = 0;

  friend bool operator==(const Budget&, const Budget&) = default;
};

/// "60s", "2m", "1h", "200trials", or a time and trials: "60s,200trials".
///
/// Errors  throws ParseError that names the piece that is no budget, stands twice, or is zero.
Budget parse_budget(std::string_view text);
std::string to_string(const Budget& budget);

}  // namespace loopbrick
