#include "trials/slowed.h"

#include <charconv>
#include <fmt/format.h>

#include "kernels/text.h"

namespace loopbrick {
namespace {

/// Cuts the first word off.
std::string_view take_word(std::string_view& text) {
  const std::size_t end = text.find(' ');
  const std::string_view word = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  return word;
}

double parse_percentage(std::string_view word) {
  double percent = 0.0;
  const char* const end = word.data() + word.size();
  const auto result = std::from_chars(word.data(), end, percent);
  const bool whole = result.ec == std::errc{} && result.ptr + 1 == end && *result.ptr == '%';
  if (!whole || !(percent >= 0.0 && percent <= 1000.0)) {
    throw ParseError(fmt::format("'{}' is not a slow-down like '3%'", word));
  }
  return percent / 100.0;
}

}  // namespace

SlowedChoice parse_slowed_choice(std::string_view text) {
  SlowedChoice slowed{.fraction = parse_percentage(take_word(text)),
                      .implementation = std::string(take_word(text)),
                      .choice = std::string(text)};
  if (slowed.implementation.empty()) {
    throw ParseError("a slow-down needs an implementation, as in '3% onednn any'");
  }
  return slowed;
}

Runnable slow_down(Runnable runnable, double fraction, Clock now) {
  runnable.implementation =
      fmt::format("{} {:.4g}% slower", runnable.implementation, 100.0 * fraction);
  runnable.run = [inner = std::move(runnable.run), fraction, now = std::move(now)] {
    const auto start = now();
    inner();
    const auto end = now();
    const auto longer = std::chrono::duration_cast<std::chrono::nanoseconds>(
        fraction * std::chrono::duration<double, std::nano>(end - start));
    while (now() < end + longer) {
    }
  };
  return runnable;
}

}  // namespace loopbrick
