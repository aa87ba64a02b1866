#include "loops/wisdom.h"

#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include "kernels/text.h"

namespace loopbrick {

namespace {

constexpr std::string_view kTitle = "loopbrick wisdom ";
constexpr std::string_view kFormat = "1";
constexpr std::string_view kSeparator = " | ";

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields;
  while (true) {
    const std::size_t end = line.find('|');
    fields.emplace_back(trimmed(line.substr(0, end)));
    if (end == std::string_view::npos) return fields;
    line.remove_prefix(end + 1);
  }
}

double parse_seconds(const std::string& text) {
  double seconds = 0.0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seconds);
  if (error == std::errc{} && stop == end && std::isfinite(seconds) && seconds > 0.0)
    return seconds;
  throw ParseError(fmt::format("'{}' is no time in seconds above 0", text));
}

/// Machine and build of the entries that follow.
WisdomEntry parse_header(const std::string& line) {
  const std::vector<std::string> fields = fields_of(line);
  const std::string format = fields[0].substr(kTitle.size());
  if (format != kFormat)
    throw ParseError(fmt::format("format '{}' of wisdom; this program reads {}", format, kFormat));
  if (fields.size() != 3)
    throw ParseError(
        fmt::format("a header is '{}{} | MACHINE | BUILD', not '{}'", kTitle, kFormat, line));
  return {.machine = fields[1], .build = fields[2]};
}

WisdomEntry parse_entry(const std::string& line, WisdomEntry entry) {
  if (entry.machine.empty())
    throw ParseError(
        fmt::format("'{}{} | MACHINE | BUILD' must come first, not '{}'", kTitle, kFormat, line));
  const std::vector<std::string> fields = fields_of(line);
  if (fields.size() != 4)
    throw ParseError(
        fmt::format("an entry is 'CONDITIONS | PROBLEM | SCHEDULE | SECONDS', not '{}'", line));
  entry.conditions = fields[0];
  entry.problem = fields[1];
  entry.schedule = fields[2];
  entry.seconds = parse_seconds(fields[3]);
  return entry;
}

}  // namespace

std::string to_string(const Wisdom& wisdom) {
  std::string text;
  const WisdomEntry* section = nullptr;
  for (const WisdomEntry& entry : wisdom.entries) {
    if (section == nullptr || section->machine != entry.machine || section->build != entry.build) {
      section = &entry;
      text += fmt::format("{}{}{}{}{}{}\n", kTitle, kFormat, kSeparator, entry.machine, kSeparator,
                          entry.build);
    }
    text += fmt::format("{}{}{}{}{}{}{}\n", entry.conditions, kSeparator, entry.problem, kSeparator,
                        entry.schedule, kSeparator, entry.seconds);
  }
  return text;
}

Wisdom parse_wisdom(std::string_view text) {
  Wisdom wisdom;
  WisdomEntry section;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string line(trimmed(text.substr(0, end)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.starts_with('#')) continue;
    try {
      if (line.starts_with(kTitle)) {
        section = parse_header(line);
      } else {
        wisdom.entries.push_back(parse_entry(line, section));
      }
    } catch (const ParseError& error) {
      throw ParseError(fmt::format("line {}: {}", number, error.what()));
    }
  }
  return wisdom;
}

}  // namespace loopbrick
