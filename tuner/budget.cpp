#include "tuner/budget.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

#include "kernels/text.h"

namespace loopbrick {

namespace {

constexpr double kMostSeconds = 1e8;  // three years
constexpr std::int64_t kMostTrials = 1'000'000'000;

[[noreturn]] void refuse(std::string_view piece) {
  throw ParseError(fmt::format(
      "'{}' is no budget: it is like 60s, 2m, 1h, 200trials or 60s,200trials, more than 0", piece));
}

/// Seconds of a unit, or nothing if it is none.
double seconds_of(std::string_view unit, std::string_view piece) {
  if (unit == "s" || unit.empty()) return 1.0;
  if (unit == "m" || unit == "min") return 60.0;
  if (unit == "h") return 3600.0;
  refuse(piece);
}

void add(std::string_view piece, Budget& budget) {
  double amount = 0.0;
  const auto [end, error] =
      std::from_chars(piece.data(), piece.data() + piece.size(), amount, std::chars_format::fixed);
  if (error != std::errc{} || !(amount > 0.0)) refuse(piece);
  const std::string_view unit = piece.substr(static_cast<std::size_t>(end - piece.data()));
  if (unit == "trials" || unit == "trial") {
    const std::string_view digits = piece.substr(0, piece.size() - unit.size());
    if (budget.trials != 0) refuse(piece);
    budget.trials = parse_count(digits, "trials of the budget", 1, kMostTrials);
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
  std::string text;
  if (budget.seconds > 0.0) text = fmt::format("{}s", budget.seconds);
  if (budget.trials > 0) text += fmt::format("{}{}trials", text.empty() ? "" : ",", budget.trials);
  return text;
}

}  // namespace loopbrick
