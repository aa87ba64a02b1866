#include "problems/batch_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace loopbrick {
namespace {

/// One line per entry: name*multiplicity text, or name: reason.
std::vector<std::string> read(std::string_view text, const BatchOptions& options = {}) {
  std::vector<std::string> lines;
  for (const BatchEntry& entry : parse_batch("file", text, "", options)) {
    if (const auto* problem = std::get_if<Problem>(&entry.problem)) {
      lines.push_back(entry.name + "*" + std::to_string(entry.multiplicity) + " " +
                      to_string(*problem));
    } else {
      lines.push_back(entry.name + ": " + std::get<std::string>(entry.problem));
    }
  }
  return lines;
}

std::string error_of(std::string_view text) {
  try {
    read(text);
    return "parsed";
  } catch (const ParseError& error) {
    return error.what();
  }
}

using Lines = std::vector<std::string>;

TEST(BatchFile, ShapesNamesAndComments) {
  EXPECT_EQ(read("# shapes\n"
                 "\n"
                 "ic16ih8oc32oh8kh3ph1n\"net:a*3\"\n"
                 "g2mb4ic16ih8oc32oh8kh3ph1_n\"net:b\"     # like a\n"
                 "# ic16ih8oc32oh8kh3ph1n\"net:c\"\n"
                 "  ic5oc7_iw9kw1pw0\r\n"
                 "ic3oc16_id5od5kd3pd1_n\"cube\"",
                 {.defaults = {.minibatch = 6}}),
            (Lines{"net:a*3 conv fwd f32 mb6ic16ih8oc32oh8kh3ph1",
                   "net:b*1 conv fwd f32 g2mb4ic16ih8oc32oh8kh3ph1",
                   "file:6*1 conv fwd f32 mb6ic5oc7_iw9ow9kw1",
                   "cube: 'id' makes the convolution 3-D; only 1-D and 2-D ones are known"}));
}

TEST(BatchFile, OptionsHoldForTheShapesBehindThem) {
  EXPECT_EQ(read("ic4ih5oc4kh1n\"a\"\n"
                 "--dir=BWD_W --mb=3 ic4ih5oc4kh1n\"b\"\n"
                 "mb8ic4ih5oc4kh1n\"c\"\n"
                 "--reset --stag=axb --attr-post-ops=relu mb8ic4ih5oc4kh1n\"d\"\n"),
            (Lines{"a*1 conv fwd f32 mb1ic4ih5oc4oh5kh1", "b*1 conv bwd_w f32 mb3ic4ih5oc4oh5kh1",
                   "c*1 conv bwd_w f32 mb3ic4ih5oc4oh5kh1",
                   "d*1 conv fwd f32 nhwc mb8ic4ih5oc4oh5kh1+relu"}));
}

TEST(BatchFile, ListsAreCrossProducts) {
  EXPECT_EQ(
      read("--dir=FWD_B,BWD_D --mb=0,2\nmb5ic4ih5oc4kh1n\"a\"\n"),
      (Lines{"a*1 conv fwd f32 mb5ic4ih5oc4oh5kh1+bias", "a*1 conv fwd f32 mb2ic4ih5oc4oh5kh1+bias",
             "a*1 conv bwd_d f32 mb5ic4ih5oc4oh5kh1", "a*1 conv bwd_d f32 mb2ic4ih5oc4oh5kh1"}));
}

TEST(BatchFile, GemmShapesTakeBatchAndLeadingDimensions) {
  EXPECT_EQ(read("1x16:16x32_n\"f32:0\"\n--bs=2,16 --ld=20:40:32\n1x16:16x32_n\"f32:1\"\n",
                 {.defaults = {.kind = "gemm"}}),
            (Lines{"f32:0*1 gemm f32 1x16:16x32", "f32:1*1 gemm f32 1x16:16x32bs2ld20:40:32",
                   "f32:1*1 gemm f32 1x16:16x32bs16ld20:40:32"}));
}

TEST(BatchFile, RnnShapesAreLstmLayers) {
  const BatchOptions rnn{.defaults = {.kind = "rnn"}};
  EXPECT_EQ(read("--prop=FWD_D,BWD_DW --alg=VANILLA_LSTM --direction=left2right --activation=TANH\n"
                 "l1t10mb32sic128slc512dhc128n\"a\"\n"
                 "--prop=FWD_I l1t1mb12_sic16_n\"b\"\n",
                 rnn),
            (Lines{"a*1 lstm train f32 t10mb32sic128slc512", "a*1 lstm bwd f32 t10mb32sic128slc512",
                   "b*1 lstm fwd f32 t1mb12sic16"}));
  EXPECT_EQ(read("l8t3mb12_sic16_n\"deep\"\nl1t1mb7_sic17_dhc34_n\"wider\"\n"
                 "--with-peephole=true l1t1mb7sic17n\"p\"\n--reset --alg=LBR_GRU l1t1sic17n\"g\"\n"
                 "--reset --direction=concat l1t1sic17n\"d\"\n",
                 rnn),
            (Lines{"deep*8 lstm fwd f32 t3mb12sic16",
                   "wider: dhc34 differs from sic17; a hidden state has one size",
                   "p: the cell has no peepholes, projection or linear gates",
                   "g: --alg=LBR_GRU is neither the direct algorithm nor VANILLA_LSTM",
                   "d*2 lstm fwd f32 t1mb1sic17"}));
}

TEST(BatchFile, StacksAndDirectionsAreLayersWithMultiplicities) {
  const BatchOptions rnn{.defaults = {.kind = "lstm"}};
  EXPECT_EQ(read("l4t5mb2sic16slc48n\"stack*3\"\nl2t5mb2sic16slc16\nl2t5mb2sic16dhc8n\"wider\"\n"
                 "--direction=right2left l1t5mb2sic16n\"back\"\n"
                 "--direction=sum l1t5mb2sic16slc8n\"both*5\" l2t5mb2sic16n\"both\"\n"
                 "--direction=up l1t5mb2sic16n\"up\"\n",
                 rnn),
            (Lines{"stack*3 lstm fwd f32 t5mb2sic16slc48", "stack*9 lstm fwd f32 t5mb2sic16",
                   "file:2*2 lstm fwd f32 t5mb2sic16",
                   "wider: dhc8 differs from sic16; a hidden state has one size",
                   "back*1 lstm fwd f32 t5mb2sic16", "both*10 lstm fwd f32 t5mb2sic16slc8",
                   "both: 'l2' stacks layers; one layer is a problem",
                   "up: --direction=up is not left2right, right2left, concat or sum"}));
}

TEST(BatchFile, FullyConnectedLayersHaveABiasGradient) {
  EXPECT_EQ(read("--dir=BWD_W,BWD_WB mb32ic16oc2049n\"a\"\n--attr-post-ops=gelu_erf --dir=FWD_B "
                 "ic64oc64n\"b\"\n",
                 {.defaults = {.kind = "ip"}}),
            (Lines{"a*1 fc bwd_w f32 mb32ic16oc2049", "a*1 fc bwd_w f32 mb32ic16oc2049+bias",
                   "b*1 fc fwd f32 mb1ic64oc64+bias+gelu_erf"}));
}

TEST(BatchFile, TheCommandLineWins) {
  const BatchOptions options{.passes = {Pass::bwd_d}, .minibatches = {2, 4}};
  EXPECT_EQ(
      read("--dir=FWD_B --mb=9\nmb7ic4ih5oc4kh1n\"a\"\n", options),
      (Lines{"a*1 conv bwd_d f32 mb2ic4ih5oc4oh5kh1", "a*1 conv bwd_d f32 mb4ic4ih5oc4oh5kh1"}));
}

TEST(BatchFile, WhatIsBeyondUsIsRefusedWithAReason) {
  const std::string shape = " mb1ic4ih5oc4kh1n\"a\"";
  for (const auto& [option, reason] : std::vector<std::pair<const char*, const char*>>{
           {"--dt=f16", "f16"},
           {"--dt=u8:s8:f32", "u8:s8:f32"},
           {"--dir=BWD_DW", "two gradients"},
           {"--dir=BWD_WB", "no post-ops"},
           {"--dir=BWD_D --attr-post-ops=relu", "forward pass"},
           {"--alg=wino", "wino"},
           {"--attr-post-ops=sum+relu", "sum+relu"},
           {"--attr-scales=src:common", "attribute"},
           {"--stag=abx", "abx"},
           {"--beta=1", "--beta=1"},
           {"--alpha=2", "--alpha=2"}}) {
    const Lines lines = read(option + shape);
    ASSERT_EQ(lines.size(), 1U) << option;
    EXPECT_TRUE(lines[0].starts_with("a: ")) << lines[0];
    EXPECT_NE(lines[0].find(reason), std::string::npos) << lines[0];
  }
  EXPECT_EQ(read("--dt=f16\n--dt=f32:f32:f32" + shape),
            read(shape));  // a later value lifts the refusal
  EXPECT_EQ(read("--perf-template=x --fast-ref=false --skip-impl=ref" + shape), read(shape));
}

TEST(BatchFile, MalformedLinesAreErrorsWithTheirPlace) {
  EXPECT_NE(error_of("\nic4ih5oc4kh1\n--frobnicate=1\n").find("file:3: '--frobnicate'"),
            std::string::npos);
  EXPECT_NE(error_of("ic4ih5\n").find("file:1: "), std::string::npos);
  EXPECT_NE(error_of("--dir=SIDEWAYS\n").find("file:1: 'SIDEWAYS'"), std::string::npos);
  EXPECT_NE(error_of("--mb=x\n").find("file:1: '--mb'"), std::string::npos);
  EXPECT_NE(error_of("--batch=/no/such/file\n").find("file:1: cannot read '/no/such/file'"),
            std::string::npos);
}

TEST(BatchFile, AShapeOfAnotherKindNamesTheOption) {
  EXPECT_NE(error_of("64x64:64x64\n").find("read as conv; --kind"), std::string::npos);
}

TEST(BatchFile, FilesIncludeFilesBesideThem) {
  const auto folder = std::filesystem::temp_directory_path() / "loopbrick_batch_test";
  std::filesystem::create_directories(folder / "sub");
  std::ofstream(folder / "outer") << "--mb=3\n--batch=sub/inner\n";
  std::ofstream(folder / "sub" / "inner") << "--batch=innermost\n";
  std::ofstream(folder / "sub" / "innermost") << "ic4ih5oc4kh1\n";
  std::ofstream(folder / "loop") << "--batch=loop\n";
  const auto entries = load_batch(folder / "outer", {});
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(to_string(std::get<Problem>(entries[0].problem)), "conv fwd f32 mb3ic4ih5oc4oh5kh1");
  EXPECT_EQ(entries[0].name, "innermost:1");
  EXPECT_THROW(load_batch(folder / "loop", {}), ParseError);
  EXPECT_THROW(load_batch(folder, {}), ParseError);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace loopbrick
