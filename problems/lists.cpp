#include "problems/lists.h"

#include <algorithm>
#include <fmt/format.h>

#include "kernels/text.h"

namespace loopbrick {
namespace {

constexpr std::size_t kMostCounts = 4096;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

void append_range(std::vector<std::int64_t>& counts, std::string_view piece,
                  std::string_view what) {
  const std::size_t dots = piece.find("..");
  const std::int64_t first = parse_count(piece.substr(0, dots), what, 1);
  const std::int64_t last =
      dots == std::string_view::npos ? first : parse_count(piece.substr(dots + 2), what, 1);
  if (last < first)
    throw ParseError(fmt::format("'{}' of {} falls; a range is like 1..4", piece, what));
  if (last - first >= static_cast<std::int64_t>(kMostCounts - counts.size())) {
    throw ParseError(fmt::format("'{}' makes {} longer than {} counts", piece, what, kMostCounts));
  }
  for (std::int64_t count = first; count <= last; ++count) counts.push_back(count);
}

}  // namespace

std::vector<std::string_view> split_list(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  if (trimmed(text).empty()) return pieces;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    pieces.push_back(trimmed(text.substr(begin, end - begin)));
    if (pieces.back().empty())
      throw ParseError(fmt::format("the list '{}' has an empty piece", text));
    begin = end + 1;
  }
  return pieces;
}

std::vector<std::int64_t> parse_count_list(std::string_view text, std::string_view what) {
  std::vector<std::int64_t> counts;
  for (const std::string_view piece : split_list(text)) append_range(counts, piece, what);
  return counts;
}

}  // namespace loopbrick
