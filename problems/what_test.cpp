#include "problems/what.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace loopbrick {
namespace {

std::vector<std::string> texts_of(const WhatRequest& request) {
  std::vector<std::string> texts;
  for (const NamedProblem& named : resolve(request).problems)
    texts.push_back(to_string(named.problem));
  return texts;
}

std::string error_of(const WhatRequest& request) {
  try {
    resolve(request);
    return "resolved";
  } catch (const ParseError& error) {
    return error.what();
  }
}

using Texts = std::vector<std::string>;

TEST(What, TypedProblemsTakeTheFlags) {
  EXPECT_EQ(texts_of({.texts = {"ic3ih5oc4kh3"}, .default_minibatch = 2}),
            (Texts{"conv fwd f32 mb2ic3ih5oc4oh3kh3"}));
  EXPECT_EQ(
      texts_of({.texts = {"ic3ih5oc4kh3"},
                .dirs = "fwd,wgrad",
                .minibatches = "1,4",
                .layouts = "nhwc"}),
      (Texts{"conv fwd f32 nhwc mb1ic3ih5oc4oh3kh3", "conv fwd f32 nhwc mb4ic3ih5oc4oh3kh3",
             "conv bwd_w f32 nhwc mb1ic3ih5oc4oh3kh3", "conv bwd_w f32 nhwc mb4ic3ih5oc4oh3kh3"}));
  EXPECT_EQ(texts_of({.texts = {"4x5:5x6", "1x1:1x1bs2"}, .kind = "brgemm"}),
            (Texts{"gemm f32 4x5:5x6", "gemm f32 1x1:1x1bs2"}));
}

TEST(What, AFlagThatContradictsTheTextIsAnError) {
  const std::string text = "conv bwd_w f32 mb2ic3ih5oc4kh3";
  for (const auto& [request, flag] : std::vector<std::pair<WhatRequest, const char*>>{
           {{.texts = {text}, .dirs = "fwd"}, "--dir fwd contradicts"},
           {{.texts = {text}, .dirs = "bwd_w,fwd"}, "--dir fwd contradicts"},
           {{.texts = {text}, .minibatches = "4"}, "--mb 4 contradicts"},
           {{.texts = {text}, .types = "bf16"}, "--dt bf16 contradicts"},
           {{.texts = {text}, .kind = "fc"}, "--kind fc contradicts"},
           {{.texts = {"nhwc ic3ih5oc4kh3"}, .layouts = "blocked"}, "--layout blocked contradicts"},
           {{.texts = {"gemm 4x5:5x6"}, .minibatches = "4"}, "--mb 4 contradicts"}}) {
    EXPECT_NE(error_of(request).find(flag), std::string::npos) << error_of(request);
  }
  EXPECT_EQ(
      texts_of({.texts = {text}, .kind = "conv", .dirs = "upd", .types = "f32", .minibatches = "2"})
          .size(),
      1U);
}

TEST(What, SuitesGiveNamesAndMultiplicities) {
  const What what = resolve({.suites = {"resnet50:13,18"}, .dirs = "fwd", .default_minibatch = 2});
  ASSERT_EQ(what.problems.size(), 2U);
  EXPECT_EQ(what.problems[0].label, "resnet50:13");
  EXPECT_EQ(what.problems[0].suite, "resnet50");
  EXPECT_EQ(what.problems[0].layer, "13");
  EXPECT_EQ(what.problems[0].multiplicity, 6);
  EXPECT_EQ(to_string(what.problems[1].problem), "conv fwd f32 mb2ic512ih7oc512oh7kh3ph1");
  EXPECT_EQ(resolve({.suites = {"resnet50"}, .minibatches = "2,16"}).problems.size(), 40U);
}

TEST(What, BatchFilesKeepTheirRefusals) {
  const auto file = std::filesystem::temp_directory_path() / "loopbrick_what_test";
  std::ofstream(file) << "mb256ic3ih5oc4kh3n\"a*2\"\nic3oc16_id5kd3n\"b\"\n";
  const What what = resolve({.batches = {file.string()}, .dirs = "bwd_d", .minibatches = "4"});
  ASSERT_EQ(what.problems.size(), 1U);
  EXPECT_EQ(to_string(what.problems[0].problem), "conv bwd_d f32 mb4ic3ih5oc4oh3kh3");
  EXPECT_EQ(what.problems[0].multiplicity, 2);
  EXPECT_EQ(what.problems[0].suite, "loopbrick_what_test");
  ASSERT_EQ(what.refused.size(), 1U);
  EXPECT_EQ(what.refused[0].label, "b");
  EXPECT_NE(what.refused[0].reason.find("3-D"), std::string::npos);
  std::filesystem::remove(file);
}

TEST(What, BadRequestsAreNamed) {
  EXPECT_NE(error_of({}).find("no problem is named"), std::string::npos);
  EXPECT_NE(error_of({.suites = {"resnet51"}}).find("'resnet51' is no suite; there are resnet50"),
            std::string::npos);
  EXPECT_NE(error_of({.texts = {"ic3"}}).find("ih is missing"), std::string::npos);
  EXPECT_NE(error_of({.texts = {"ic3ih5oc4kh3"}, .dirs = "up"}).find("'up'"), std::string::npos);
  EXPECT_NE(error_of({.texts = {"ic3ih5oc4kh3"}, .minibatches = "0"}).find("'--mb'"),
            std::string::npos);
  EXPECT_NE(error_of({.texts = {"ic3ih5oc4kh3"}, .kind = "matmul"}).find("'matmul'"),
            std::string::npos);
  EXPECT_NE(error_of({.batches = {"/no/such/file"}}).find("/no/such/file"), std::string::npos);
}

}  // namespace
}  // namespace loopbrick
