#include "results/table_format.h"

#include <gtest/gtest.h>

namespace loopbrick {
namespace {

const Table kTable{
    {"name", "gflops", "note"},
    {{"a", "12.5", "x,\"y\""}, {"b|c", "7", std::nullopt}, {"\xc3\xa9\n", "-1e-05", ""}}};

TEST(TableFormat, NamesAreParsed) {
  EXPECT_EQ(parse_table_format("table"), TableFormat::table);
  EXPECT_EQ(parse_table_format("json"), TableFormat::json);
  EXPECT_EQ(parse_table_format("csv"), TableFormat::csv);
  EXPECT_EQ(parse_table_format("md"), TableFormat::md);
  EXPECT_EQ(parse_table_format("xml"), std::nullopt);
  EXPECT_EQ(parse_table_format(""), std::nullopt);
}

TEST(TableFormat, TableIsAlignedWithNumbersToTheRight) {
  EXPECT_EQ(format_table(kTable, TableFormat::table),
            "name  gflops  note\n"
            "a       12.5  x,\"y\"\n"
            "b|c        7  -\n"
            "\xc3\xa9\\n   -1e-05\n");
}

TEST(TableFormat, JsonIsAListOfObjects) {
  EXPECT_EQ(format_table(kTable, TableFormat::json),
            "[\n"
            "  {\"name\": \"a\", \"gflops\": 12.5, \"note\": \"x,\\\"y\\\"\"},\n"
            "  {\"name\": \"b|c\", \"gflops\": 7, \"note\": null},\n"
            "  {\"name\": \"\xc3\xa9\\n\", \"gflops\": -1e-05, \"note\": \"\"}\n"
            "]\n");
}

TEST(TableFormat, JsonNumbersAreThoseOfJson) {
  for (const char* number : {"0", "-0", "12", "0.5", "1e5", "1.25E+10", "-3.0e-07"}) {
    EXPECT_EQ(format_table({{"x"}, {{number}}}, TableFormat::json),
              "[\n  {\"x\": " + std::string(number) + "}\n]\n");
  }
  for (const char* text :
       {"", "-", "007", ".5", "1.", "1e", "1e+", "inf", "nan", "0x1", "1 ", "12e5f"}) {
    EXPECT_EQ(format_table({{"x"}, {{text}}}, TableFormat::json),
              "[\n  {\"x\": \"" + std::string(text) + "\"}\n]\n");
  }
}

TEST(TableFormat, JsonReplacesWhatIsNotUtf8) {
  const auto json = [](const std::string& text) {
    return format_table({{"x"}, {{text}}}, TableFormat::json);
  };
  for (const char* good : {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\xa7\xb1", "\xef\xbf\xbd"}) {
    EXPECT_EQ(json(good), "[\n  {\"x\": \"" + std::string(good) + "\"}\n]\n");
  }
  for (const char* bad : {"\xff", "\x80", "\xc3", "\xc0", "\xf5"}) {
    EXPECT_EQ(json(std::string(bad) + "a"),
              "[\n  {\"x\": \"\xef\xbf\xbd"
              "a\"}\n]\n");
  }
  for (const char* bad : {"\xe0\x80\x80", "\xed\xa0\x80", "\xe2\x82"}) {
    EXPECT_EQ(json(bad).find(bad), std::string::npos);
  }
  EXPECT_EQ(format_table({{"\xff"}, {{"1"}}}, TableFormat::json),
            "[\n  {\"\xef\xbf\xbd\": 1}\n]\n");
}

TEST(TableFormat, OneTextMakesAColumnOfTexts) {
  EXPECT_EQ(format_table({{"x"}, {{"1"}, {"abc1234"}}}, TableFormat::json),
            "[\n  {\"x\": \"1\"},\n  {\"x\": \"abc1234\"}\n]\n");
}

TEST(TableFormat, CsvQuotesWhatNeedsIt) {
  EXPECT_EQ(format_table(kTable, TableFormat::csv),
            "name,gflops,note\n"
            "a,12.5,\"x,\"\"y\"\"\"\n"
            "b|c,7,\n"
            "\"\xc3\xa9\n\",-1e-05,\n");
}

TEST(TableFormat, MdIsAPipeTable) {
  EXPECT_EQ(format_table(kTable, TableFormat::md),
            "| name | gflops | note |\n"
            "| --- | ---: | --- |\n"
            "| a | 12.5 | x,\"y\" |\n"
            "| b\\|c | 7 |  |\n"
            "| \xc3\xa9\\n | -1e-05 |  |\n");
}

TEST(TableFormat, NoRowsIsStillATable) {
  const Table none{{"a", "b"}, {}};
  EXPECT_EQ(format_table(none, TableFormat::table), "a  b\n");
  EXPECT_EQ(format_table(none, TableFormat::json), "[]\n");
  EXPECT_EQ(format_table(none, TableFormat::csv), "a,b\n");
  EXPECT_EQ(format_table(none, TableFormat::md), "| a | b |\n| --- | --- |\n");
}

}  // namespace
}  // namespace loopbrick
