#include "kernels/text.h"

#include <charconv>
#include <fmt/format.h>

namespace loopbrick {
namespace {

std::string range_text(std::int64_t least, std::int64_t most) {
  if (most == INT64_MAX) return fmt::format("of at least {}", least);
  return fmt::format("from {} to {}", least, most);
}

}  // namespace

std::int64_t parse_count(std::string_view text, std::string_view what, std::int64_t least,
                         std::int64_t most) {
  const char* const end = text.data() + text.size();
  std::int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool whole = error == std::errc{} && stop == end && !text.empty();
  if (whole && value >= least && value <= most) return value;
  throw ParseError(
      fmt::format("'{}' must be a whole number {}, not '{}'", what, range_text(least, most), text));
}

std::int64_t saturating_product(std::int64_t left, std::int64_t right) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(left, right, &product) ? INT64_MAX : product;
}

std::int64_t saturating_sum(std::int64_t left, std::int64_t right) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(left, right, &sum) ? INT64_MAX : sum;
}

}  // namespace loopbrick
