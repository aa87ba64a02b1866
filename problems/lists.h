#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace loopbrick {

/// The pieces of "a,b,c" without blanks around them; an empty text has none.
///
/// Errors  throws ParseError that names the list if a piece is empty.
std::vector<std::string_view> split_list(std::string_view text, char separator = ',');

/// Counts of at least 1 with ranges: "1,2,4..8" is 1 2 4 5 6 7 8.
///
/// Errors  throws ParseError that names `what` and the bad piece, a falling range, or more than
/// 4096 counts.
std::vector<std::int64_t> parse_count_list(std::string_view text, std::string_view what);

}  // namespace loopbrick
