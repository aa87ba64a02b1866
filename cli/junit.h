#pragma once
#include <string>
#include <utility>
#include <vector>

namespace loopbrick {

/// What became of one test in a report for a build server.
struct JunitCase {
  enum class Outcome { passed, failed, error, skipped };

  std::string group, name;
  double seconds = 0.0;  ///< that it took
  Outcome outcome = Outcome::passed;
  std::string message{};  ///< one sentence, for all but passed
  std::string details{};  ///< lines
};

/// A report in the XML that JUnit began and build servers read.
///
/// Text  valid XML 1.0 in UTF-8 whatever the strings hold: a character that XML can't hold becomes
///       U+FFFD.
std::string junit_text(const std::string& suite,
                       const std::vector<std::pair<std::string, std::string>>& properties,
                       const std::vector<JunitCase>& cases);

}  // namespace loopbrick
