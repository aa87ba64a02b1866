#include "kernels/text.h"

#include <gtest/gtest.h>

namespace loopbrick {
namespace {

std::string complaint(std::string_view text, std::int64_t least, std::int64_t most = INT64_MAX) {
  try {
    parse_count(text, "mb", least, most);
    return "no complaint";
  } catch (const ParseError& error) {
    return error.what();
  }
}

TEST(ParseCount, TakesWholeNumbersWithinTheRange) {
  EXPECT_EQ(parse_count("1", "mb", 1, 5), 1);
  EXPECT_EQ(parse_count("5", "mb", 1, 5), 5);
  EXPECT_EQ(parse_count("9223372036854775807", "mb", 0), INT64_MAX);
  EXPECT_EQ(parse_count("-3", "offset", -5, 5), -3);
}

TEST(ParseCount, NamesTheRangeAndTheText) {
  EXPECT_EQ(complaint("0", 1, 5), "'mb' must be a whole number from 1 to 5, not '0'");
  EXPECT_EQ(complaint("6", 1, 5), "'mb' must be a whole number from 1 to 5, not '6'");
  EXPECT_EQ(complaint("0", 1), "'mb' must be a whole number of at least 1, not '0'");
}

TEST(ParseCount, RefusesWhatIsNotANumberToItsEnd) {
  for (const std::string_view text : {"", "x", "3x", " 3", "3 ", "+3", "3.0", "0x3", "3e2"}) {
    EXPECT_NE(complaint(text, 0), "no complaint") << text;
  }
}

TEST(ParseCount, NeverWrapsAround) {
  EXPECT_NE(complaint("9223372036854775808", 0), "no complaint");
  EXPECT_NE(complaint("18446744073709551617", 0), "no complaint");
  EXPECT_NE(complaint("4294967297", 0, INT32_MAX), "no complaint");
}

TEST(Saturating, ProductsAndSumsStopAtTheLargestNumber) {
  EXPECT_EQ(saturating_product(1 << 20, 1 << 20), std::int64_t{1} << 40);
  EXPECT_EQ(saturating_product(std::int64_t{1} << 32, std::int64_t{1} << 31), INT64_MAX);
  EXPECT_EQ(saturating_product(46341, 46341), std::int64_t{2147488281});
  EXPECT_EQ(saturating_sum(INT64_MAX, 1), INT64_MAX);
  EXPECT_EQ(saturating_sum(2, -3), -1);
}

}  // namespace
}  // namespace loopbrick
