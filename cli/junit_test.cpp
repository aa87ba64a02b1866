#include "cli/junit.h"

#include <gtest/gtest.h>

namespace loopbrick {
namespace {

using Outcome = JunitCase::Outcome;

TEST(Junit, CountsAndTellsEveryKindOfOutcome) {
  EXPECT_EQ(
      junit_text("compare", {{"machine", "m"}},
                 {{.group = "g", .name = "a", .seconds = 0.5, .details = "numbers"},
                  {.group = "g",
                   .name = "b",
                   .outcome = Outcome::failed,
                   .message = "slow",
                   .details = "more"},
                  {.group = "g", .name = "c", .outcome = Outcome::error, .message = "died"},
                  {.group = "g", .name = "d", .outcome = Outcome::skipped, .message = "none"}}),
      R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="compare" tests="4" failures="1" errors="1" skipped="1" time="0.500">
    <properties>
      <property name="machine" value="m"/>
    </properties>
    <testcase classname="g" name="a" time="0.500"><system-out>numbers</system-out></testcase>
    <testcase classname="g" name="b" time="0.000"><failure message="slow">more</failure></testcase>
    <testcase classname="g" name="c" time="0.000"><error message="died"></error></testcase>
    <testcase classname="g" name="d" time="0.000"><skipped message="none"/></testcase>
  </testsuite>
</testsuites>
)");
}

TEST(Junit, TextsMayHoldAnything) {
  const std::string text = junit_text(
      "<&\">'", {}, {{.group = "a\tb\nc", .name = std::string("\x01\0\xff\xef\xbf\xbf", 6)}});
  EXPECT_NE(text.find("name=\"&lt;&amp;&quot;&gt;'\""), std::string::npos) << text;
  EXPECT_NE(text.find("classname=\"a&#9;b&#10;c\""), std::string::npos) << text;
  EXPECT_NE(text.find("name=\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace loopbrick
