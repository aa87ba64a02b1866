#include "cli/progress_line.h"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

namespace loopbrick {
namespace {

constexpr int kBar = 12;
constexpr std::size_t kWidth = 110;  // longer lines would wrap and stay behind

std::string bar(double fraction) {
  const int full = std::clamp(static_cast<int>(fraction * kBar), 0, kBar);
  return fmt::format("[{:#<{}}{:.<{}}]", "", full, "", kBar - full);
}

}  // namespace

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(double fraction, std::string_view text) {
  const auto now = std::chrono::steady_clock::now();
  if (!is_terminal_ || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  clear();
  out_ << fmt::format("{} {}", bar(fraction), text).substr(0, kWidth) << std::flush;
  is_shown_ = true;
}

void ProgressLine::say(std::string_view line) {
  clear();
  out_ << line << '\n' << std::flush;
}

void ProgressLine::clear() {
  if (is_shown_) out_ << "\r\033[K";
  is_shown_ = false;
}

bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }

}  // namespace loopbrick
