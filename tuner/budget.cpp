#include "tuner/budget.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "kernels/text.h"

namespace loopbrick {

namespace {

constexpr double kMostSeconds = 1e8;  // three years
constexpr std::int64_t kMostTrials = 1'000'000'000;

[[noreturn]] void refuse(std::string_view piece) {
  throw ParseError(fmt::format(
      "'{}' is no budget: it is like 60s, 2m, 1h, 200trials, 40stale or 60s,40stale, more than 0",
      piece));
}

/// Seconds of a unit, or nothing if it is none.
double seconds_of(std::string_view unit, std::string_view piece) {
  if (unit == "s" || unit.empty()) return 1.0;
  if (unit == "m" || unit == "min") return 60.0;
  if (unit == "h") return 3600.0;
  refuse(piece);
}

/// The counts that a budget may hold, by their units.
struct Counted {
  std::string_view unit;
  std::string_view what;
  std::int64_t Budget::*count;
};
constexpr Counted kCounted[] = {
    {"trials", "trials of the budget", &Budget::trials},
    {"trial", "trials of the budget", &Budget::trials},
    {"stale", "stale trials of the budget", &Budget::stale},
};

void add(std::string_view piece, Budget& budget) {
  double amount = 0.0;
  const auto [end, error] =
      std::from_chars(piece.data(), piece.data() + piece.size(), amount, std::chars_format::fixed);
  if (error != std::errc{} || !(amount > 0.0)) refuse(piece);
  const std::string_view unit = piece.substr(static_cast<std::size_t>(end - piece.data()));
  for (const Counted& counted : kCounted) {
    if (unit != counted.unit) continue;
    if (budget.*counted.count != 0) refuse(piece);
    budget.*counted.count =
        parse_count(piece.substr(0, piece.size() - unit.size()), counted.what, 1, kMostTrials);
    return;
  }
  amount *= seconds_of(unit, piece);
  if (budget.seconds != 0.0 || amount > kMostSeconds) refuse(piece);
  budget.seconds = amount;
}

}  // namespace

Budget parse_budget(std::string_view text) {
  Budget budget;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    add(text.substr(at, end - at), budget);
    at = end + 1;
  }
  return budget;
}

std::string to_string(const Budget& budget) {
  std::vector<std::string> pieces;
  if (budget.seconds > 0.0) pieces.push_back(fmt::format("{}s", budget.seconds));
  if (budget.trials > 0) pieces.push_back(fmt::format("{}trials", budget.trials));
  if (budget.stale > 0) pieces.push_back(fmt::format("{}stale", budget.stale));
  return fmt::format("{}", fmt::join(pieces, ","));
}

}  // namespace loopbrick
