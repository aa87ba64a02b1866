#include "cli/junit.h"

#include <algorithm>
#include <fmt/format.h>
#include <string_view>

#include "results/table_format.h"

namespace loopbrick {
namespace {

using Outcome = JunitCase::Outcome;

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

/// Text of an element or an attribute, where blanks other than spaces must be written as numbers.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char letter : as_utf8(text)) {
    switch (letter) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\t':
      case '\n':
      case '\r':
        out += fmt::format("&#{};", static_cast<int>(letter));
        break;
      default:
        if (static_cast<unsigned char>(letter) < 0x20) {
          out += kReplacement;
        } else {
          out += letter;
        }
    }
  }
  // Two characters of Unicode that XML has not: U+FFFE and U+FFFF.
  for (const std::string_view none : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
    for (auto at = out.find(none); at != std::string::npos; at = out.find(none, at)) {
      out.replace(at, none.size(), kReplacement);
    }
  }
  return out;
}

std::string body(const JunitCase& one) {
  const std::string message = escaped(one.message);
  const std::string details = escaped(one.details);
  switch (one.outcome) {
    case Outcome::passed:
      return details.empty() ? "" : fmt::format("<system-out>{}</system-out>", details);
    case Outcome::failed:
      return fmt::format("<failure message=\"{}\">{}</failure>", message, details);
    case Outcome::error:
      return fmt::format("<error message=\"{}\">{}</error>", message, details);
    case Outcome::skipped:
      break;
  }
  return fmt::format("<skipped message=\"{}\"/>", message);
}

}  // namespace

std::string junit_text(const std::string& suite,
                       const std::vector<std::pair<std::string, std::string>>& properties,
                       const std::vector<JunitCase>& cases) {
  const auto count = [&cases](Outcome outcome) {
    return std::count_if(cases.begin(), cases.end(),
                         [outcome](const JunitCase& one) { return one.outcome == outcome; });
  };
  double seconds = 0.0;
  for (const JunitCase& one : cases) seconds += one.seconds;
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  text += fmt::format(
      "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\""
      " time=\"{:.3f}\">\n    <properties>\n",
      escaped(suite), cases.size(), count(Outcome::failed), count(Outcome::error),
      count(Outcome::skipped), seconds);
  for (const auto& [name, value] : properties) {
    text +=
        fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", escaped(name), escaped(value));
  }
  text += "    </properties>\n";
  for (const JunitCase& one : cases) {
    text +=
        fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\">{}</testcase>\n",
                    escaped(one.group), escaped(one.name), one.seconds, body(one));
  }
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace loopbrick
