#include "problems/suite.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "problems/lists.h"

namespace loopbrick {
namespace {

std::string error_of(std::string_view csv) {
  try {
    parse_suite("my", csv);
    return "parsed";
  } catch (const ParseError& error) {
    return error.what();
  }
}

std::string layers_of(std::string_view text) {
  std::string ids;
  for (const SuiteLayer& layer : load_suite(text).layers) ids += layer.layer + " ";
  return ids;
}

TEST(Suite, ResNet50IsTheNetwork) {
  const Suite suite = load_suite("resnet50", {.pass = Pass::bwd_w, .minibatch = 16});
  ASSERT_EQ(suite.layers.size(), 20U);
  std::int64_t convolutions = 0;
  double gflop = 0.0;
  for (const SuiteLayer& layer : suite.layers) {
    convolutions += layer.count;
    gflop += static_cast<double>(layer.count) * flops(layer.problem) / 16e9;
  }
  EXPECT_EQ(convolutions, 53);
  EXPECT_NEAR(gflop, 7.0, 1.0);  // about 3.5 G multiply-adds an image
  EXPECT_EQ(to_string(suite.layers[12].problem), "conv bwd_w f32 mb16ic256ih14oc256oh14kh3ph1");
  EXPECT_EQ(suite.layers[12].count, 6);
}

TEST(Suite, EveryBuiltInOneParses) {
  const auto names = suite_names();
  EXPECT_GE(names.size(), 5U);
  for (const std::string_view name : names) {
    const Suite suite = load_suite(name);
    EXPECT_EQ(suite.name, name);
    for (const SuiteLayer& layer : suite.layers) {
      EXPECT_EQ(to_string(parse_problem(to_string(layer.problem))), to_string(layer.problem));
    }
  }
}

TEST(Suite, LayersAreChosenByIdListAndRange) {
  EXPECT_EQ(layers_of("resnet50:13"), "13 ");
  EXPECT_EQ(layers_of("resnet50:4,8,13"), "4 8 13 ");
  EXPECT_EQ(layers_of("resnet50:1..3,18..20"), "1 2 3 18 19 20 ");
  EXPECT_EQ(layers_of("alexnet:conv2..conv4"), "conv2 conv3 conv4 ");
  for (const char* text :
       {"resnet50:21", "resnet50:", "resnet50:4..1", "resnet50:1,,2", "resnet51", "", ":1"}) {
    EXPECT_THROW(load_suite(text), ParseError) << text;
  }
}

TEST(Suite, FilesWorkLikeBuiltInOnes) {
  const auto file = std::filesystem::temp_directory_path() / "loopbrick_suite_test.csv";
  std::ofstream(file)
      << "# mine\nlayer,problem,count\n a , fc ic3oc4+relu , 2 # twice\nb,ic3ih5oc4kh3,1\r\n";
  const Suite suite = load_suite(file.string(), {.minibatch = 9});
  EXPECT_EQ(suite.name, "loopbrick_suite_test");
  ASSERT_EQ(suite.layers.size(), 2U);
  EXPECT_EQ(to_string(suite.layers[0].problem), "fc fwd f32 mb9ic3oc4+relu");
  EXPECT_EQ(suite.layers[0].count, 2);
  EXPECT_EQ(layers_of(file.string() + ":b"), "b ");
  std::filesystem::remove(file);
  EXPECT_THROW(load_suite(file.string()), ParseError);
  EXPECT_THROW(load_suite("/no/such/folder/x.csv"), ParseError);
}

TEST(Suite, AByteOrderMarkIsNoPartOfTheHeader) {
  EXPECT_EQ(error_of("\xEF\xBB\xBFlayer,problem,count\na,ic3ih5oc4kh3,1\n"), "parsed");
}

TEST(Suite, ErrorsNameTheLine) {
  const std::string header = "# one\nlayer,problem,count\n";
  EXPECT_EQ(error_of(""), "suite my has no layers");
  EXPECT_EQ(error_of(header), "suite my has no layers");
  EXPECT_NE(error_of("a,ic3ih5oc4kh3,1\n").find("my:1: "), std::string::npos);
  EXPECT_NE(error_of(header + "a,ic3ih5oc4kh3\n").find("my:3: 'a,ic3ih5oc4kh3' has 2 fields"),
            std::string::npos);
  EXPECT_NE(error_of(header + "\na,ic3oc4kh3,1\n").find("my:4: "), std::string::npos);
  EXPECT_NE(error_of(header + "a,ic3ih5oc4kh3,0").find("'count'"), std::string::npos);
  EXPECT_NE(error_of(header + "a,ic3ih5oc4kh3,1\na,ic3ih5oc4kh3,1")
                .find("my:4: layer 'a' is given twice"),
            std::string::npos);
}

TEST(Lists, CountsHaveRanges) {
  EXPECT_EQ(parse_count_list("1,2,4..6", "threads"), (std::vector<std::int64_t>{1, 2, 4, 5, 6}));
  EXPECT_EQ(parse_count_list(" 3 , 3", "threads"), (std::vector<std::int64_t>{3, 3}));
  EXPECT_TRUE(parse_count_list("", "threads").empty());
  for (const char* text :
       {"0", "1,", ",1", "1,,2", "4..2", "1..", "..2", "x", "1..5000", "1..9223372036854775807"}) {
    EXPECT_THROW(parse_count_list(text, "threads"), ParseError) << text;
  }
}

}  // namespace
}  // namespace loopbrick
