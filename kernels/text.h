#pragma once
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace loopbrick {

/// A text that a person typed is not what it should be; what() names the bad piece and what would
/// be right.
struct ParseError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The whole of `text` as a decimal count in [least, most].
///
/// Errors  throws ParseError "'WHAT' ..." that names `what`, the text and the range; never wraps
/// around.
std::int64_t parse_count(std::string_view text, std::string_view what, std::int64_t least,
                         std::int64_t most = INT64_MAX);

/// left * right, or INT64_MAX where the product does not fit (sizes are compared with limits, never
/// wrapped).
std::int64_t saturating_product(std::int64_t left, std::int64_t right);
std::int64_t saturating_sum(std::int64_t left, std::int64_t right);

}  // namespace loopbrick
