#include "trials/message.h"

#include <charconv>
#include <fmt/format.h>
#include <stdexcept>

namespace loopbrick {
namespace {

void append_escaped(std::string_view text, std::string& line) {
  for (const char letter : text) {
    switch (letter) {
      case '\t':
        line += "\\t";
        break;
      case '\n':
        line += "\\n";
        break;
      case '\\':
        line += "\\\\";
        break;
      default:
        line += letter;
    }
  }
}

std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      plain += text[i];
      continue;
    }
    const char letter = text[++i];
    plain += letter == 't' ? '\t' : letter == 'n' ? '\n' : letter;
  }
  return plain;
}

template <typename T>
T parse(const std::string& text, const Message& message) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc{} || result.ptr != end) {
    throw std::runtime_error(fmt::format("'{}' is no number in '{}'", text, encode(message)));
  }
  return value;
}

}  // namespace

std::string encode(const Message& message) {
  std::string line;
  append_escaped(message.verb, line);
  for (const std::string& one : message.fields) {
    line += '\t';
    append_escaped(one, line);
  }
  return line;
}

Message decode(std::string_view line) {
  Message message;
  std::size_t tab = line.find('\t');
  message.verb = unescaped(line.substr(0, tab));
  while (tab != std::string_view::npos) {
    line.remove_prefix(tab + 1);
    tab = line.find('\t');
    message.fields.push_back(unescaped(line.substr(0, tab)));
  }
  return message;
}

const std::string& Fields::text() {
  if (empty()) {
    throw std::runtime_error(fmt::format("a field is missing in '{}'", encode(message_)));
  }
  return message_.fields[next_++];
}

std::int64_t Fields::count() { return parse<std::int64_t>(text(), message_); }

double Fields::number() { return parse<double>(text(), message_); }

std::string number_text(double value) { return fmt::format("{}", value); }

}  // namespace loopbrick
