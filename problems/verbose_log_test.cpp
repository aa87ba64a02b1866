#include "problems/verbose_log.h"

#include <gtest/gtest.h>

namespace loopbrick {
namespace {

constexpr const char* kMemory =
    "src_f32::blocked:aBcd16b:f0 wei_f32::blocked:ABcd16b16a:f0 bia_f32::blocked:a:f0 "
    "dst_f32::blocked:aBcd16b:f0";
constexpr const char* kConv = "mb2_ic64oc64_ih14oh14kh3sh1dh0ph1_iw14ow14kw3sw1dw0pw1";

std::string conv_line(const std::string& before_exec, const std::string& propagation,
                      const std::string& attributes = "") {
  return before_exec + "exec,cpu,convolution,jit:avx512_core," + propagation + "," + kMemory + "," +
         attributes + ",alg:convolution_direct," + kConv + ",1.31\n";
}

std::vector<std::string> problems(const VerboseLog& log) {
  std::vector<std::string> texts;
  for (const SuiteLayer& layer : log.suite.layers) {
    texts.push_back(to_string(layer.problem) + " *" + std::to_string(layer.count));
  }
  return texts;
}

TEST(VerboseLog, CallsOfEveryVersionAreCountedTogether) {
  const std::string text =
      "dnnl_verbose,info,DNNL v1.3.0\nsome program's own line, exec,cpu\n" +
      conv_line("dnnl_verbose,", "forward_training", "attr-post-ops:eltwise_relu ") +
      conv_line("onednn_verbose,", "forward_training", "attr-post-ops:eltwise_relu ") +
      conv_line("onednn_verbose,primitive,", "forward_inference", "attr-post-ops:eltwise_relu") +
      conv_line("onednn_verbose,v1,1693.25,primitive,", "forward_inference",
                "attr-scratchpad:user attr-post-ops:eltwise_relu:0:0") +
      conv_line("onednn_verbose,v1,primitive,", "backward_data") +
      conv_line("onednn_verbose,v1,primitive,", "backward_weights");
  const VerboseLog log = parse_verbose_log("app", text);
  const std::string shape = "mb2ic64ih14oc64oh14kh3ph1";
  EXPECT_EQ(problems(log), (std::vector<std::string>{"conv fwd f32 " + shape + "+bias+relu *4",
                                                     "conv bwd_d f32 " + shape + " *1",
                                                     "conv bwd_w f32 " + shape + " *1"}));
  EXPECT_EQ(log.calls, 6);
  EXPECT_TRUE(log.skipped.empty());
}

TEST(VerboseLog, OtherPrimitivesHaveTheirProblems) {
  const VerboseLog log = parse_verbose_log(
      "app",
      "onednn_verbose,exec,cpu,inner_product,brgemm:avx512_core,forward_inference,src_f32::blocked:"
      "ab:f0 wei_f32::blocked:AB16b32a:f0 bia_undef::undef::f0 "
      "dst_f32::blocked:ab:f0,,,mb8ic64oc32,0.06\r\n"
      "onednn_verbose,exec,cpu,inner_product,brgemm:avx512_core,backward_weights,src_f32::blocked:"
      "ab:f0 wei_f32::blocked:AB16b32a:f0 bia_f32::blocked:a:f0 "
      "dst_f32::blocked:ab:f0,,,mb8ic64oc32,0.06\n"
      "onednn_verbose,exec,cpu,matmul,brg:avx512_core,undef,src_f32::blocked:ab:f0 "
      "wei_f32::blocked:ab:f0 dst_f32::blocked:ab:f0,,,7x9:9x5:7x5,0.03\n"
      "onednn_verbose,exec,cpu,rnn,ref,forward_training,src_layer_f32::blocked:abc:f0 "
      "src_iter_f32::blocked:abcd:f0,,alg:vanilla_lstm direction:unidirectional_left2right "
      "activation:undef,l1t3mb2sic32slc16dhc32dic32,37.2\n"
      "onednn_verbose,exec,cpu,convolution,brgconv:avx512_core,forward_inference,src_f32::blocked:"
      "acdb:f0 dst_f32::blocked:acdb:f0,,alg:convolution_direct,"
      "g2mb2_ic8oc8_ih5oh5kh3sh1dh0ph1_iw5ow5kw3sw1dw0pw1,0.09\n"
      "onednn_verbose,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:ab:f0 "
      "dst_f32::blocked:ba:f0,,,8x8,0.1\n");
  EXPECT_EQ(problems(log), (std::vector<std::string>{
                               "fc fwd f32 mb8ic64oc32 *1", "fc bwd_w f32 mb8ic64oc32+bias *1",
                               "gemm f32 7x9:9x5 *1", "lstm train f32 t3mb2sic32slc16 *1",
                               "conv fwd f32 nhwc g2mb2ic8ih5oc8oh5kh3ph1 *1"}));
  EXPECT_EQ(log.calls, 5);
}

TEST(VerboseLog, WhatIsBeyondUsIsCountedWithItsReason) {
  const VerboseLog log = parse_verbose_log(
      "app",
      conv_line("onednn_verbose,", "forward_inference", "attr-post-ops:sum+eltwise_relu ") +
          "onednn_verbose,exec,gpu,convolution,ocl,forward_inference,src_f32::b:acdb:f0,,alg:x,"
          "mb1ic8ih5oc8oh5kh1ph0,0.1\n"
          "onednn_verbose,exec,cpu,convolution,jit,forward_inference,src_bf16::b:acdb:f0,,alg:x,"
          "mb1ic8ih5oc8oh5kh1ph0,0.1\n"
          "onednn_verbose,exec,cpu,convolution,jit,forward_inference,src_f32::b:acdb:f0,,alg:x,"
          "mb1ic8id5ih5oc8od5oh5kd1kh1,0.1\n"
          "onednn_verbose,exec,cpu,rnn,jit,forward_inference,src_layer_f32::b:abc:f0,,"
          "alg:vanilla_gru direction:unidirectional_left2right,l1t3mb2sic32,0.1\n");
  EXPECT_TRUE(log.suite.layers.empty());
  EXPECT_EQ(log.calls, 5);
  std::int64_t skipped = 0;
  for (const auto& [reason, calls] : log.skipped) skipped += calls;
  EXPECT_EQ(skipped, 5);
  EXPECT_EQ(log.skipped.size(), 5U) << "a reason for each";
}

TEST(VerboseLog, NoOperationBecomesAnotherOne) {
  const std::string gemm =
      "onednn_verbose,exec,cpu,matmul,brg:avx512_core,undef,src_f32::blocked:ab:f0 "
      "wei_f32::blocked:ab:f0 bia_f32::blocked:ab:f0 dst_f32::blocked:ab:f0,,,7x9:9x5:7x5,0.03\n";
  const std::string other_type =
      "onednn_verbose,exec,cpu,matmul,brg:avx512_core,undef,src_f32::blocked:ab:f0 "
      "wei_bf16::blocked:ab:f0 dst_f32::blocked:ab:f0,,,7x9:9x5:7x5,0.03\n";
  const VerboseLog log = parse_verbose_log(
      "app", conv_line("onednn_verbose,", "forward_inference", "attr-post-ops:eltwise_relu:0.1 ") +
                 conv_line("onednn_verbose,", "forward_inference", "attr-scales:src:0:f32") + gemm +
                 other_type);
  EXPECT_TRUE(log.suite.layers.empty()) << problems(log)[0];
  EXPECT_EQ(log.skipped.size(), 4U);
}

TEST(VerboseLog, ALineThatIsCutShortIsNone) {
  const std::string line = conv_line("onednn_verbose,", "forward_inference");
  for (std::size_t length = 0; length + 8 < line.size(); length += 7) {
    EXPECT_EQ(parse_verbose_log("app", line.substr(0, length)).suite.layers.size(), 0U) << length;
  }
}

TEST(VerboseLog, TheCsvIsASuite) {
  const VerboseLog log =
      parse_verbose_log("app", conv_line("onednn_verbose,", "backward_data") +
                                   conv_line("onednn_verbose,", "backward_data"));
  const Suite suite = parse_suite("app", to_csv(log.suite));
  ASSERT_EQ(suite.layers.size(), 1U);
  EXPECT_EQ(suite.layers[0].count, 2);
  EXPECT_EQ(suite.layers[0].problem, log.suite.layers[0].problem);
}

}  // namespace
}  // namespace loopbrick
