#pragma once
#include <chrono>
#include <ostream>
#include <string>
#include <string_view>

namespace loopbrick {

/// What a long command tells while it works: on a terminal one line that is rewritten, elsewhere
/// only the lines that stay.
class ProgressLine {
 public:
  ProgressLine(std::ostream& out, bool is_terminal) : out_(out), is_terminal_(is_terminal) {}
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Rewrites the line: a bar for `fraction` in [0, 1], then the text. At most ten times a second.
  void show(double fraction, std::string_view text);

  /// A line that stays, above the one that is rewritten.
  void say(std::string_view line);

 private:
  void clear();

  std::ostream& out_;
  bool is_terminal_;
  bool is_shown_ = false;
  std::chrono::steady_clock::time_point last_{};
};

/// Is standard error a terminal?
bool stderr_is_terminal();

}  // namespace loopbrick
