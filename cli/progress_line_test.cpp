#include "cli/progress_line.h"

#include <gtest/gtest.h>

#include <sstream>

namespace loopbrick {
namespace {

TEST(ProgressLine, IsSilentWhenNotATerminal) {
  std::ostringstream out;
  {
    ProgressLine line(out, false);
    line.show(0.5, "half way");
    line.say("a fact");
  }
  EXPECT_EQ(out.str(), "a fact\n");
}

TEST(ProgressLine, IsRewrittenOnATerminalAndLeavesNothingBehind) {
  std::ostringstream out;
  {
    ProgressLine line(out, true);
    line.show(0.5, "half way");
    line.say("a fact");
  }
  EXPECT_EQ(out.str(), "[######......] half way\r\033[Ka fact\n");
}

TEST(ProgressLine, ShowsAtMostTenLinesASecond) {
  std::ostringstream out;
  ProgressLine line(out, true);
  for (int i = 0; i < 1000; ++i) line.show(1.0, "x");
  EXPECT_EQ(out.str(), "[############] x");
}

}  // namespace
}  // namespace loopbrick
