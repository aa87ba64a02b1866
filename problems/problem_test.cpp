#include "problems/problem.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "problems/operands.h"

namespace loopbrick {
namespace {

std::string error_of(std::string_view text, const ProblemDefaults& defaults = {}) {
  try {
    return "parsed as " + to_string(parse_problem(text, defaults));
  } catch (const ParseError& error) {
    return error.what();
  }
}

const Conv& conv_of(const Problem& problem) { return std::get<Conv>(problem.shape); }

TEST(Problem, CanonicalTextRoundTrips) {
  for (const char* text : {
           "conv fwd f32 mb2ic64ih56oc64oh56kh3ph1",
           "conv fwd f32 mb2ic64ih56oc64oh56kh3ph1+bias+relu",
           "conv bwd_w bf16 nhwc mb1ic3ih224oc64oh112kh7sh2ph3",
           "conv bwd_d s8 g3mb1ic9ih32oc3oh10kh5sh3ph1",
           "conv fwd f32 mb1ic32ih67oc48oh23kh1sh3_iw4ow5kw1pw1",
           "conv fwd f32 mb10ic32ih81oc32oh41kh21sh2ph10_iw980ow980kw11pw5",
           "conv fwd f32 mb2ic3oc16_iw5ow5kw3pw1",
           "conv fwd f32 mb2ic3ih1oc16oh1kh1",
           "conv fwd f32 mb1ic2ih9oc2oh5kh3dh1",
           "conv fwd f32 mb1ic16ih5oc16oh8kh3ph3",
           "conv fwd f32 mb1ic16ih5oc16oh5kh3ph0",
           "conv fwd f32 mb1ic16ih50oc16oh5kh3",
           "gemm f32 64x33:33x64",
           "gemm f32 64x33:33x64bs16ld40:80:64+relu",
           "gemm f32 2x0:0x3bs0",
           "fc fwd f32 mb168ic1024oc1024+bias+relu",
           "fc fwd f32 mb168ic1024oc1024+gelu_erf",
           "fc bwd_d f32 mb168ic1024oc1024+gelu_erf",
           "fc bwd_w f32 mb168ic1024oc1024+bias",
           "fc bwd_w f32 nhwc mb168ic1024oc1024+bias+relu",
           "conv fwd f32 mb2ic64ih56oc64oh56kh3ph1+bias+gelu_tanh",
           "fc bwd_w f32 nhwc mb168ic1024oc1000",
           "lstm train f32 t50mb168sic1024",
           "lstm bwd f32 t10mb32sic128slc512",
       }) {
    EXPECT_EQ(to_string(parse_problem(text)), text);
    EXPECT_TRUE(parse_problem(to_string(parse_problem(text))) == parse_problem(text)) << text;
  }
}

TEST(Problem, LooseTextsBecomeCanonical) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"mb2ic64ih56iw56oc64oh56ow56kh3kw3sh1sw1ph1pw1dh0dw0g1",
       "conv fwd f32 mb2ic64ih56oc64oh56kh3ph1"},
      {"mb2_ic64ih56_oc64kh3ph1_", "conv fwd f32 mb2ic64ih56oc64oh56kh3ph1"},
      {"  conv   dgrad  f32 mb2ic4ih5oc4kh1 ", "conv bwd_d f32 mb2ic4ih5oc4oh5kh1"},
      {"f32 upd conv mb2ic4ih5oc4kh1", "conv bwd_w f32 mb2ic4ih5oc4oh5kh1"},
      {"mb2ic64ih56oc64oh56kh3ph1n\"net:a layer*3\"", "conv fwd f32 mb2ic64ih56oc64oh56kh3ph1"},
      {"fc mb2ic3oc4+bias+gelu", "fc fwd f32 mb2ic3oc4+bias+gelu_erf"},
      {"fc bwd_d mb2ic3oc4+bias+relu", "fc bwd_d f32 mb2ic3oc4+relu"},
      {"mb2ic64ih56oc64oh56kh3ph1_n\"x\"+relu", "conv fwd f32 mb2ic64ih56oc64oh56kh3ph1+relu"},
      {"blocked mb2ic64ih56oc64oh56kh3", "conv fwd f32 mb2ic64ih56oc64oh56kh3ph1"},
      {"mb2ic3oc16iw8kw3pw1sw2", "conv fwd f32 mb2ic3oc16_iw8ow4kw3sw2pw1"},
      {"brgemm 4x5:5x6_bs1_n\"a\"", "gemm f32 4x5:5x6"},
      {"gemm fwd 4x5:5x6ld5:6:6", "gemm f32 4x5:5x6"},
      {"ip mb2ic3oc4", "fc fwd f32 mb2ic3oc4"},
      {"rnn fprop l1t2mb3sic4slc4dhc4", "lstm fwd f32 t2mb3sic4"},
  };
  for (const auto& [typed, canonical] : cases)
    EXPECT_EQ(error_of(typed), std::string("parsed as ") + canonical);
}

TEST(Problem, WhatIsLeftOutComesFromTheDefaults) {
  const ProblemDefaults defaults{.kind = "fc",
                                 .pass = Pass::bwd_w,
                                 .type = DType::bf16,
                                 .minibatch = 7,
                                 .layout = Layout::nhwc};
  EXPECT_EQ(to_string(parse_problem("ic3oc4", defaults)), "fc bwd_w bf16 nhwc mb7ic3oc4");
  EXPECT_EQ(to_string(parse_problem("conv fwd f32 blocked mb2ic3oc4ih5kh1", defaults)),
            "conv fwd f32 mb2ic3ih5oc4oh5kh1");
  EXPECT_EQ(to_string(parse_problem("lstm fwd t2sic4", {.minibatch = 5})),
            "lstm fwd f32 t2mb5sic4");
}

TEST(Problem, SizesFollowFromOneAnother) {
  const Conv strided = conv_of(parse_problem("ic3ih227oc96kh11sh4"));
  EXPECT_EQ(strided.p, 55);
  EXPECT_EQ(strided.q, 55);
  const Conv dilated = conv_of(parse_problem("ic3ih10oc4kh3dh2"));
  EXPECT_EQ(dilated.dilation_h, 3);
  EXPECT_EQ(dilated.p, 4);
  const Conv centred = conv_of(parse_problem("ic3ih10oc4oh10kh5"));
  EXPECT_EQ(centred.pad_h, 2);
  const Conv flat = conv_of(parse_problem("ic3iw10oc4kw5pw2"));
  EXPECT_EQ(flat.h, 1);
  EXPECT_EQ(flat.p, 1);
  EXPECT_EQ(flat.r, 1);
  EXPECT_EQ(flat.q, 10);
}

TEST(Problem, PaddingBehindMayBeLessOrMoreThanInFront) {
  EXPECT_EQ(conv_of(parse_problem("ic3ih5oc4oh8kh3ph3")).p, 8);
  EXPECT_EQ(conv_of(parse_problem("ic3ih50oc4oh2kh3ph0")).p, 2);  // rows 4 to 49 are never read
  EXPECT_EQ(conv_of(parse_problem("ic3ih4oc4oh5kh1ph0")).p, 5);   // the last window lies in padding
  EXPECT_EQ(conv_of(parse_problem("ic3ih56oc4oh57kh3ph1")).p, 57);  // "same" of other frameworks
}

TEST(Problem, MalformedTextsAreNamed) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"", "has no sizes"},
      {"conv fwd f32", "has no sizes"},
      {"conv fwd", "has no sizes"},
      {"zz", "'zz' is no size"},
      {"mb2ic64ih56oc64kh3zz4", "'zz' is no size"},
      {"mb2ic64ih56oc64kh", "'kh' in"},
      {"mb2ic64ih56oc64kh3kh3", "'kh' is given twice"},
      {"mb2ic64ih56oc64kh0", "'kh' must be"},
      {"mb0ic64ih56oc64kh3", "'mb' must be"},
      {"mb2ic64ih56oc64kh3ph-1", "'ph' in"},
      {"mb2ic64ih56oc64kh3.5", "'.5' in"},
      {"mb2ic64ih56oc64kh3ph99999999999", "'ph' must be"},
      {"mb2ic99999999999999999999ih56oc64kh3", "'ic' must be"},
      {"MB2ic64ih56oc64kh3", "'MB2ic64ih56oc64kh3' in"},
      {"mb2ih56oc64kh3", "ic is missing"},
      {"mb2ic64ih56kh3", "oc is missing"},
      {"mb2ic64oc64kh3", "ih is missing"},
      {"mb2ic64ih56oc64", "kh is missing"},
      {"mb2ic64oc64", "ih is missing"},
      {"mb2ic64ih56oc64kh3kw1", "iw is missing"},
      {"mb2ic64ih56oc64kh3iw5", "kw is missing"},
      {"mb2ic64ih5oc64kh7", "kh7"},
      {"mb2ic64ih5oc64kh3dh4", "spans 11 pixels"},
      {"mb2ic64ih56oc64oh65kh3ph1", "oh65 does not follow"},
      {"mb2ic64ih56oc64kh3_iw5ow70kw1", "ow70 does not follow"},
      {"g2mb2ic3ih5oc4kh1", "g2 does not divide"},
      {"g2mb2ic4ih5oc3kh1", "g2 does not divide"},
      {"ic3id5oc4kd3", "3-D"},
      {"ic3ih5oc4kh3dd0", "3-D"},
      {"ic3ih5oc4kh3pd1", "3-D"},
      {"conv conv mb2ic3ih5oc4kh1", "'conv' is a second"},
      {"fwd bwd_d mb2ic3ih5oc4kh1", "'bwd_d' is a second"},
      {"conv fwrd mb2ic3ih5oc4kh1", "'fwrd'"},
      {"mb2ic3ih5oc4kh1 fwrd", "'mb2ic3ih5oc4kh1'"},
      {"conv train mb2ic3ih5oc4kh1", "conv has no pass train"},
      {"gemm bwd_d 4x5:5x6", "gemm has no pass bwd_d"},
      {"fc bwd mb2ic3oc4", "fc has no pass bwd"},
      {"lstm bwd_w t2mb3sic4", "lstm has no pass bwd_w"},
      {"mb2ic3ih5oc4kh1+", "'+'"},
      {"mb2ic3ih5oc4kh1+sum", "'+sum'"},
      {"mb2ic3ih5oc4kh1+relu+bias", "'+bias'"},
      {"mb2ic3ih5oc4kh1+bias+bias", "'+bias'"},
      {"mb2ic3ih5oc4kh1+relu+relu", "'+relu'"},
      {"bwd_w mb2ic3ih5oc4kh1+relu", "conv bwd_w takes no post-ops"},
      {"lstm t2mb3sic4+bias", "lstm fwd takes no post-ops"},
      {"mb2ic3ih5oc4kh1n\"open", "closing quote"},
      {"fc mb2ic3ih1oc4", "'ih' is no size"},
      {"lstm mb3sic4", "t is missing"},
      {"lstm l2t2mb3sic4", "'l2'"},
      {"lstm t2mb3sic4dhc5", "dhc5 differs from sic4"},
      {"gemm 64x64", "':' missing at the end"},
      {"gemm 64", "'x' missing at the end"},
      {"gemm 64x33:32x64", "A has 33 columns but B has 32 rows"},
      {"gemm 0x3:3x4", "'m' must be"},
      {"gemm 3x3:3x0", "'n' must be"},
      {"gemm axb:bxc", "'m' must be"},
      {"gemm 4x5:5x6zz", "'zz' at the end"},
      {"gemm 4x5:5x6bs", "'bs' must be"},
      {"gemm 4x5:5x6ld4:6:6", "lda 4 is shorter"},
      {"gemm 4x5:5x6ld5:5:6", "ldb 5 is shorter"},
      {"gemm 4x5:5x6ld5:6:5", "ldc 5 is shorter"},
      {"gemm 4x5:5x6ld5:6", "':' missing"},
      {"gemm nhwc 4x5:5x6", "no layout"},
      {"gemm mb2ic3oc4", "'m' must be"},
      {"64x64:64x64", "is not a size"},
  };
  for (const auto& [text, piece] : cases) {
    const std::string error = error_of(text);
    EXPECT_NE(error.find(piece), std::string::npos) << "'" << text << "': " << error;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

TEST(Problem, ThreeDimensionsAreUnsupportedNotMalformed) {
  EXPECT_THROW(parse_problem("g1ic16oc16_id5od8kd3pd3_n\"conv_3d\""), UnsupportedProblem);
  EXPECT_THROW(parse_problem("lstm l8t3mb12sic16"), UnsupportedProblem);
  try {
    parse_problem("ic16oc16ih5");
    FAIL();
  } catch (const UnsupportedProblem&) {
    FAIL() << "a missing size is malformed";
  } catch (const ParseError&) {
  }
}

TEST(Problem, SizesBeyond32BitsAreExact) {
  // 268435456 images and a 46341-pixel side: their products wrap around in 32 bits.
  const Problem images = parse_problem("bwd_w mb268435456ic3ih56oc64oh56kh1");
  EXPECT_EQ(total_bytes(images),
            4 * (268435456LL * 3 * 56 * 56 + 268435456LL * 64 * 56 * 56 + 3 * 64));
  const Problem square = parse_problem("mb1ic1ih46341oc1kh1");
  EXPECT_EQ(elements(operands(square).back()), 46341LL * 46341);
  const Problem column = parse_problem("nhwc mb46341ic1ih46341iw1oc1kh1kw1");
  EXPECT_EQ(elements(operands(column).front()), 46341LL * 46341);
  const Problem wide = parse_problem("mb1ic28ih514oc12kh1_iw131584kw1");
  EXPECT_EQ(elements(operands(wide).front()), 28LL * 514 * 131584);
  EXPECT_EQ(conv_of(wide).q, 131584);
  EXPECT_DOUBLE_EQ(flops(wide), 2.0 * 28 * 12 * 514 * 131584);
  EXPECT_EQ(total_bytes(parse_problem("mb10ic32ih81oc32oh41kh21sh2ph10_iw980ow980kw11sw1pw5")),
            4 * (10LL * 32 * 81 * 980 + 32 * 32 * 21 * 11 + 10LL * 32 * 41 * 980));
}

TEST(Problem, TensorsBeyond63BitsAreRefused) {
  for (const char* text :
       {"mb9223372036854775807ic1ih1oc1kh1", "mb2147483648ic2147483648ih2oc1kh1",
        "mb1ic1ih2147483647oc1oh2147483647kh1", "gemm 4294967296x4294967296:4294967296x1",
        "gemm 1x1:1x1bs9223372036854775807", "gemm 2x1:1x2ld1:2:9223372036854775807",
        "fc mb3037000500ic3037000500oc1", "lstm t2147483648mb2147483648sic2"}) {
    EXPECT_NE(error_of(text).find("beyond 2^63 bytes"), std::string::npos)
        << text << ": " << error_of(text);
  }
  // Each fits, all together do not.
  EXPECT_NE(error_of("gemm 1000000000x1000000000:1000000000x1000000000").find("together"),
            std::string::npos);
}

TEST(Problem, ExtremeSizesNeverWrapAround) {
  EXPECT_NE(error_of("ic1ih1oc1oh2147483647kh1sh2147483647").find("does not follow"),
            std::string::npos);
  EXPECT_NE(error_of("ic1ih1oc1kh2147483647dh2147483647").find("kh2147483647"), std::string::npos);
  const Problem padded = parse_problem("ic1iw1oc1kw1pw2147483647");
  EXPECT_EQ(conv_of(padded).q, 4294967295);
  EXPECT_TRUE(parse_problem(to_string(padded)) == padded);
}

TEST(Problem, FlopsCountPaddingAndGroups) {
  EXPECT_DOUBLE_EQ(flops(parse_problem("mb2ic64ih56oc64oh56kh3ph1")),
                   2.0 * 2 * 64 * 64 * 56 * 56 * 9);
  EXPECT_DOUBLE_EQ(flops(parse_problem("g4mb1ic8ih5oc12kh1")), 2.0 * 2 * 12 * 25);
  EXPECT_DOUBLE_EQ(flops(parse_problem("gemm 2x3:3x5bs7")), 2.0 * 2 * 3 * 5 * 7);
  EXPECT_DOUBLE_EQ(flops(parse_problem("gemm 2x0:0x5")), 0.0);
  EXPECT_DOUBLE_EQ(flops(parse_problem("fc mb2ic3oc5")), 2.0 * 2 * 3 * 5);
  EXPECT_DOUBLE_EQ(flops(parse_problem("lstm t2mb3sic4slc5")), 8.0 * 2 * 3 * 4 * (4 + 5));
  EXPECT_DOUBLE_EQ(flops(parse_problem("lstm bwd t2mb3sic4slc5")), 16.0 * 2 * 3 * 4 * (4 + 5));
}

TEST(Problem, NamesCarryTheirMultiplicity) {
  EXPECT_EQ(parse_problem_name("ic3n\"vgg_19:conv3_2*3\""), (ProblemName{"vgg_19:conv3_2", 3}));
  EXPECT_EQ(parse_problem_name("ic3_n\"a\""), (ProblemName{"a", 1}));
  EXPECT_EQ(parse_problem_name("ic3ih5"), std::nullopt);
  EXPECT_THROW(parse_problem_name("ic3n\"a*x\""), ParseError);
  EXPECT_THROW(parse_problem_name("ic3n\"a*0\""), ParseError);
}

TEST(Problem, PassesKindsAndLayoutsHaveAliases) {
  for (const auto& [alias, name] :
       std::vector<std::pair<const char*, const char*>>{{"fprop", "fwd"},
                                                        {"dgrad", "bwd_d"},
                                                        {"wgrad", "bwd_w"},
                                                        {"upd", "bwd_w"},
                                                        {"bwd_weights", "bwd_w"}}) {
    EXPECT_EQ(to_string(parse_pass(alias)), name);
  }
  EXPECT_THROW(parse_pass("backwards"), ParseError);
  EXPECT_EQ(parse_kind("ip"), "fc");
  EXPECT_THROW(parse_kind("matmul"), ParseError);
  EXPECT_EQ(parse_layout("nhwc"), Layout::nhwc);
  EXPECT_THROW(parse_layout("nchw"), ParseError);
}

TEST(ChannelBlock, IsTheLargestPowerOfTwoFrom16To64OrAll) {
  const std::vector<std::pair<std::int64_t, std::int64_t>> cases = {
      {1, 1},   {2, 2},   {3, 3},   {8, 8},     {17, 17},  {28, 28},
      {48, 16}, {64, 64}, {96, 32}, {333, 333}, {1024, 64}};
  for (const auto& [channels, block] : cases)
    EXPECT_EQ(channel_block(Layout::blocked, channels), block) << channels;
  EXPECT_EQ(channel_block(Layout::nhwc, 96), 96);
}

}  // namespace
}  // namespace loopbrick
