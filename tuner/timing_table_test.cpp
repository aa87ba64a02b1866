#include "tuner/timing_table.h"

#include <gtest/gtest.h>

#include "kernels/text.h"

namespace loopbrick {
namespace {

const char* const kText =
    "# problem: fc fwd f32 mb4ic8oc8\n"
    "# choice order: k n | n k\n"
    "# choice rows: 1 | 2 | 4\n"
    "# refinement next: no | \"x\", yes\n"
    "order,rows,next,schedule,predicted_s,seconds,confirmed\n"
    "k n,2,no,k n2,0.002,0.0025,no\n"
    "n k,1,no,n1 k,0.001,0.003,yes\n"
    "n k,1,\"\"\"x\"\", yes\",n1 k next=x,0.0015,0.0028,yes\n"
    "n k,4,no,n4 k,0.004,0,no\n";

std::string refusal(const std::string& text) {
  try {
    parse_timing_table("t.csv", text);
  } catch (const ParseError& error) {
    return error.what();
  }
  return "none";
}

TEST(TimingTable, TextAndTableAreInverse) {
  const TimingTable table = parse_timing_table("t", kText);
  EXPECT_EQ(to_string(table), kText);
  ASSERT_EQ(table.choices.size(), 3U);
  EXPECT_EQ(table.choices[1].values, (std::vector<std::string>{"1", "2", "4"}));
  EXPECT_FALSE(table.choices[1].is_refinement);
  EXPECT_TRUE(table.choices[2].is_refinement);
  EXPECT_EQ(table.facts.at(0).second, "fc fwd f32 mb4ic8oc8");
}

TEST(TimingTable, ItsSpaceHoldsItsRowsAndNoOthers) {
  const TimingTable table = parse_timing_table("t", kText);
  const Space space = space_of(table);
  std::vector<std::string> texts;
  walk(space, [&](const Point& point) {
    texts.push_back(space.text(point));
    EXPECT_DOUBLE_EQ(space.predict(point), row_of(table, point).predicted);
    return true;
  });
  EXPECT_EQ(texts, (std::vector<std::string>{"k n2", "n1 k", "n1 k next=x", "n4 k"}));
  EXPECT_TRUE(space.why_not({0, 0}));
  EXPECT_FALSE(space.why_not({0, 1}));
}

TEST(TimingTable, TheBestIsAConfirmedOne) {
  TimingTable table = parse_timing_table("t", kText);
  EXPECT_DOUBLE_EQ(best_seconds(table), 0.0028);
  for (TimingRow& row : table.rows) row.confirmed = false;
  EXPECT_DOUBLE_EQ(best_seconds(table), 0.0025);
}

TEST(TimingTable, EveryKindOfBadTextIsNamed) {
  const std::string good = kText;
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return refusal(text);
  };
  EXPECT_EQ(refusal(""), "t.csv: no header and no rows");
  EXPECT_EQ(with("# problem: ", "# problem"),
            "t.csv:1: '# problemfc fwd f32 mb4ic8oc8' is no '# name: text'");
  EXPECT_EQ(with("order,rows,next", "order,row,next"),
            "t.csv:5: the header must be order,rows,next,schedule,predicted_s,seconds,confirmed");
  EXPECT_EQ(with("k n,2,no", "k n,3,no"), "t.csv:6: '3' is no value of rows");
  EXPECT_EQ(with("0.0025,no", "0.0025"), "t.csv:6: 6 cells, not the 7 of the header");
  EXPECT_EQ(with("0.0025", "-1"), "t.csv:6: seconds '-1' is no time in seconds");
  EXPECT_EQ(with("0.0025", "nan"), "t.csv:6: seconds 'nan' is no time in seconds");
  EXPECT_EQ(with("0.0025,no", "0.0025,maybe"), "t.csv:6: confirmed is yes or no, not 'maybe'");
  EXPECT_EQ(with("k n,2,no,k n2", "n k,4,no,k n2"), "t.csv: 'k n2' stands twice");
  EXPECT_NE(with("\"\"\"x\"\", yes\"", "\"x").find("quote that does not end"), std::string::npos);
  EXPECT_EQ(refusal("# choice a: 1\na,schedule,predicted_s,seconds,confirmed\n1,x,1,0,no\n"),
            "t.csv: no schedule has a time");
}

}  // namespace
}  // namespace loopbrick
