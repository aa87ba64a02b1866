#include "baselines/baselines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <omp.h>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "baselines/doubt.h"
#include "problems/operands.h"

namespace loopbrick {
namespace {

const std::vector<std::string_view> kAll{"onednn",  "onednn-nhwc", "eigen",     "im2col",
                                         "libxsmm", "libxsmm-rim", "small-gemm"};

/// The rows that compute every forward convolution of one group.
const std::vector<std::string_view> kConv{"onednn", "onednn-nhwc", "eigen", "im2col", "small-gemm"};
constexpr Fill kFills[] = {Fill::integers, Fill::uniform, Fill::ones};

/// The arrays of one problem with memory behind them.
class Data {
 public:
  Data(const Problem& problem, Fill kind) {
    for (const Operand& operand : operands(problem)) {
      memory_.emplace_back(static_cast<std::size_t>(elements(operand)));
    }
    fill(problem, kind, 7, arrays());
  }

  Arrays arrays() { return {memory_.begin(), memory_.end()}; }
  std::vector<std::vector<float>> outputs(const Problem& problem) const {
    std::vector<std::vector<float>> all;
    const std::vector<Operand> named = operands(problem);
    for (std::size_t i = 0; i < named.size(); ++i) {
      if (named[i].output) all.push_back(memory_[i]);
    }
    return all;
  }

 private:
  std::vector<std::vector<float>> memory_;
};

/// A problem with what it should give for each fill, computed once for all rows.
struct Question {
  explicit Question(const Problem& asked) : problem(asked) {
    for (const Fill kind : kFills) {
      reference(problem, wanted.emplace_back(problem, kind).arrays(), 1);
    }
  }

  Problem problem;
  std::vector<Data> wanted;
};

Problem conv_problem(const Conv& conv) { return {.shape = conv}; }

/// Output pixels along one axis, `extra` more than equal padding on both sides gives.
std::int64_t outputs(std::int64_t inputs, std::int64_t pad, std::int64_t taps,
                     std::int64_t dilation, std::int64_t stride, std::int64_t extra) {
  return (inputs + 2 * pad - (taps - 1) * dilation - 1) / stride + 1 + extra;
}

void set_outputs(Conv& c, std::int64_t extra) {
  c.p = outputs(c.h, c.pad_h, c.r, c.dilation_h, c.stride_h, extra);
  c.q = outputs(c.w, c.pad_w, c.s, c.dilation_w, c.stride_w, extra);
}

/// A small convolution whose every parameter is drawn, with one more pixel of padding at the far
/// end in one case of three.
Conv random_conv(std::mt19937& random) {
  const auto draw = [&random](std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random);
  };
  Conv c{.n = draw(1, 3), .c = draw(1, 40), .k = draw(1, 70), .r = draw(1, 4), .s = draw(1, 4)};
  c.stride_h = draw(1, 3);
  c.stride_w = draw(1, 3);
  c.dilation_h = draw(1, 2);
  c.dilation_w = draw(1, 2);
  c.pad_h = draw(0, (c.r - 1) * c.dilation_h);
  c.pad_w = draw(0, (c.s - 1) * c.dilation_w);
  c.h = draw((c.r - 1) * c.dilation_h + 1, 14);
  c.w = draw((c.s - 1) * c.dilation_w + 1, 14);
  const bool may_pad_more = c.stride_h == 1 && c.stride_w == 1 && c.r > 1 && c.s > 1;
  set_outputs(c, may_pad_more && draw(0, 2) == 0 ? 1 : 0);
  return c;
}

std::vector<Problem> convolutions() {
  std::vector<Problem> problems;
  for (const char* text : {"mb1ic3ih23oc64oh12kh7sh2ph3",   // like a network's first layer
                           "mb2ic64ih14oc128oh14kh3ph1",    // dense 3x3
                           "mb2ic128ih7oc64oh7kh1ph0",      // dense 1x1
                           "mb2ic64ih14oc64oh7kh1sh2ph0",   // stride > kernel
                           "mb1ic16ih14oc16oh1kh1sh14ph0",  // one pixel of each line
                           "mb1ic32ih67iw4oc48oh23ow5kh1kw1sh3sw1ph0pw1",     // padding of a 1x1
                           "mb1ic6ih7oc5oh7kh3ph1", "mb1ic1ih5oc1oh5kh1ph0",  // few channels
                           "mb1ic16ih9oc20oh9kh3ph2dh1", "mb3ic2ih9oc3oh3kh3sh3ph0"}) {
    problems.push_back(parse_problem(text));
  }
  std::mt19937 random(2);
  for (int i = 0; i < 20; ++i) problems.push_back(conv_problem(random_conv(random)));
  return problems;
}

/// What is wrong with the answer, as text; empty if it is right both times.
std::string run_twice(const Runnable& runnable, const Problem& problem, Fill kind,
                      const Arrays& want) {
  Data got(problem, kind);
  runnable.load(got.arrays());
  runnable.run();
  runnable.unload(got.arrays());
  for (const Mismatch& mismatch : compare(problem, kind, got.arrays(), want)) {
    return to_string(mismatch, problem);
  }
  const std::vector<std::vector<float>> first = got.outputs(problem);
  runnable.run();
  runnable.unload(got.arrays());
  return first == got.outputs(problem) ? "" : "the second run differs from the first";
}

void check(const Implementation& row, Question& question, const Conditions& conditions) {
  const Problem& problem = question.problem;
  SCOPED_TRACE(std::string(row.name) + ": " + to_string(problem) + ", " + to_string(conditions));
  const auto prepared = row.prepare(problem, "", conditions);
  const auto* runnable = std::get_if<Runnable>(&prepared);
  ASSERT_NE(runnable, nullptr) << to_string(std::get<Refusal>(prepared));
  EXPECT_FALSE(runnable->implementation.empty());
  EXPECT_EQ(runnable->flag, doubt(runnable->implementation, wanted_isa(conditions)));
  for (std::size_t i = 0; i < std::size(kFills); ++i) {
    EXPECT_EQ(run_twice(*runnable, problem, kFills[i], question.wanted[i].arrays()), "")
        << to_string(kFills[i]);
  }
}

std::string refusal(const Implementation& row, const Problem& problem, std::string_view choice) {
  const auto prepared = row.prepare(problem, choice, {.threads = 1});
  const auto* reason = std::get_if<Refusal>(&prepared);
  return reason ? to_string(*reason) : "";
}

const Implementation* row_named(std::string_view name) {
  const auto rows = baselines();
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [name](const Implementation& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

/// Whether the row can run here at all: Eigen's is compiled for one CPU, OpenBLAS may be told a
/// wrong one.
bool runs_here(const Implementation& row) {
  return refusal(row, parse_problem("mb1ic8ih4oc8oh4kh1ph0"), "").empty();
}

TEST(Baselines, EveryNameIsInTheTableOrKnownToBeMissing) {
  EXPECT_EQ(baselines_problem(), "");
  std::multiset<std::string_view> names;
  for (const Implementation& row : baselines()) names.insert(row.name);
  for (const MissingBaseline& missing : missing_baselines()) names.insert(missing.name);
  EXPECT_EQ(names, std::multiset<std::string_view>(kAll.begin(), kAll.end()));
}

TEST(Baselines, RowsDescribeThemselves) {
  for (const Implementation& row : baselines()) {
    const std::string version = row.version();
    EXPECT_FALSE(row.sentence.empty()) << row.name;
    ASSERT_FALSE(version.empty()) << row.name;
    EXPECT_TRUE(std::isdigit(static_cast<unsigned char>(version[0]))) << version;
  }
}

/// Checks the problem on every row of `names` that runs here, with one thread and with two.
void check_rows(const std::vector<std::string_view>& names, const Problem& problem) {
  Question question(problem);
  for (const std::string_view name : names) {
    const Implementation* row = row_named(name);
    if (!row || !runs_here(*row)) continue;
    for (const int threads : {1, 2}) check(*row, question, {.threads = threads});
  }
}

TEST(Baselines, ConvolutionsAgreeWithTheReference) {
  for (const Problem& problem : convolutions()) check_rows(kConv, problem);
}

/// The rows that compute the gradients of a convolution.
const std::vector<std::string_view> kBackwardConv{"onednn", "onednn-nhwc", "eigen", "im2col"};

TEST(Baselines, GradientsOfConvolutionsAgreeWithTheReference) {
  for (Problem problem : convolutions()) {
    for (const Pass pass : {Pass::bwd_d, Pass::bwd_w}) {
      problem.pass = pass;
      check_rows(kBackwardConv, problem);
    }
  }
}

/// libxsmm refuses dilation, more padding behind than before, and some more.
TEST(Baselines, LibxsmmAgreesWithTheReferenceWhereItDoesNotRefuse) {
  for (Problem problem : convolutions()) {
    for (const Pass pass : {Pass::fwd, Pass::bwd_d, Pass::bwd_w}) {
      problem.pass = pass;
      for (const std::string_view name : {"libxsmm", "libxsmm-rim"}) {
        const Implementation* row = row_named(name);
        if (row != nullptr && refusal(*row, problem, "").empty()) check_rows({name}, problem);
      }
    }
  }
}

TEST(Baselines, LibxsmmSaysWhatItCannotDo) {
  const Implementation* row = row_named("libxsmm");
  if (!row) GTEST_SKIP() << "needs libxsmm";
  for (const auto& [text, word] : {std::pair{"g2mb1ic8ih6oc8oh6kh3ph1", "groups"},
                                   {"mb1ic16ih9oc16oh9kh3ph2dh1", "dilation"},
                                   {"mb1ic16ih6oc16oh7kh3ph1", "behind"},
                                   {"mb1ic16ih6oc16oh6kh3ph1+relu", "activation"},
                                   {"mb1ic16ih6iw6oc16oh4ow6kh3kw3ph0pw1", "libxsmm-rim"}}) {
    EXPECT_NE(refusal(*row, parse_problem(text), "").find(word), std::string::npos) << text;
  }
}

TEST(Baselines, LibxsmmCopiesThePaddingUnlessItIsPartOfTheTensor) {
  for (const auto& [name, included] : {std::pair{"libxsmm", "padding copy; filter transposition"},
                                       {"libxsmm-rim", "filter transposition"}}) {
    const Implementation* row = row_named(name);
    if (!row) GTEST_SKIP() << "needs libxsmm";
    const auto prepared = row->prepare(parse_problem("bwd_d mb1ic16ih6oc16oh6kh3ph1"), "", {});
    EXPECT_EQ(std::get<Runnable>(prepared).included, included);
  }
}

/// The rows that compute an LSTM layer.
const std::vector<std::string_view> kLstm{"onednn", "libxsmm", "eigen", "im2col"};
const std::vector<std::string_view> kLstmBackward{"onednn"};

TEST(Baselines, LstmLayersAgreeWithTheReference) {
  for (const char* pass : {"fwd", "train", "bwd"}) {
    for (const char* sizes :
         {"t1mb1sic1", "t3mb2sic5slc3", "t4mb7sic17slc33", "t2mb16sic64", "t5mb3sic32slc8"}) {
      const Problem problem = parse_problem(std::string("lstm ") + pass + " f32 " + sizes);
      check_rows(problem.pass == Pass::bwd ? kLstmBackward : kLstm, problem);
    }
  }
}

TEST(Baselines, LstmLayersRunOptimizedCodeAndSayWhatElseIsTimed) {
  const Implementation* row = row_named("onednn");
  if (!row) GTEST_SKIP() << "needs onednn";
  for (const char* pass : {"fwd", "train", "bwd"}) {
    const auto prepared =
        row->prepare(parse_problem(std::string("lstm ") + pass + " f32 t2mb16sic64"), "", {});
    const Runnable& runnable = std::get<Runnable>(prepared);
    EXPECT_FALSE(runnable.implementation.starts_with("ref")) << runnable.implementation;
    EXPECT_EQ(runnable.included.empty(), pass != std::string_view("bwd")) << runnable.included;
  }
}

TEST(Baselines, BiasAndReluAgreeWithTheReference) {
  for (const char* post :
       {"+bias", "+relu", "+bias+relu", "+sigmoid", "+bias+tanh", "+gelu_erf", "+bias+gelu_tanh"}) {
    for (const char* shape : {"mb2ic64ih7oc48oh7kh3ph1", "mb1ic5ih6oc7oh6kh1ph0"}) {
      check_rows(kConv, parse_problem(std::string(shape) + post));
    }
  }
}

TEST(Baselines, ColumnsBeyondOneBufferAgreeWithTheReference) {
  // 12 images with 1.6 MB of columns each are more than the 16 MiB that one large product uses.
  const Implementation* row = row_named("im2col");
  if (!row || !runs_here(*row)) GTEST_SKIP() << "needs im2col";
  for (const char* pass : {"fwd", "bwd_d", "bwd_w"}) {
    Question question(parse_problem(std::string(pass) + " mb12ic16ih52oc1oh52kh3ph1"));
    check(*row, question, {.threads = 2});
  }
}

TEST(Baselines, GroupsRunInOnednnAndAreRefusedElsewhere) {
  for (const char* text : {"g4mb1ic8ih6oc12oh6kh3ph1", "g24mb1ic24oc24ih6oh3kh3sh2ph1"}) {
    const Problem problem = parse_problem(text);
    check_rows({"onednn", "onednn-nhwc"}, problem);
    for (const char* pass : {"bwd_d ", "bwd_w "}) {
      check_rows({"onednn", "onednn-nhwc"}, parse_problem(std::string(pass) + text));
    }
    for (const char* name : {"eigen", "im2col", "small-gemm"}) {
      const Implementation* row = row_named(name);
      if (!row || !runs_here(*row)) continue;
      EXPECT_NE(refusal(*row, problem, "").find("group"), std::string::npos) << name;
    }
  }
}

TEST(Baselines, GemmsAgreeWithTheReference) {
  for (const char* text : {"gemm 64x33:33x64", "gemm 1x1:1x1", "gemm 7x20:20x13bs5",
                           "gemm 64x64:64x239ld64:240:240", "gemm 5x6:6x7bs3ld9:8:11"}) {
    check_rows({"im2col", "eigen", "onednn"}, parse_problem(text));
  }
}

TEST(Baselines, EmptySumsAreZeroOrRefused) {
  for (const Gemm& gemm :
       {Gemm{.m = 3, .n = 5, .k = 0, .lda = 1, .ldb = 5, .ldc = 6},
        Gemm{.m = 3, .n = 5, .k = 4, .batch = 0, .lda = 4, .ldb = 5, .ldc = 5}}) {
    check_rows({"im2col", "eigen"}, {.shape = gemm});
    if (const Implementation* row = row_named("onednn")) {
      EXPECT_EQ(refusal(*row, {.shape = gemm}, ""), "oneDNN has no empty sum");
    }
  }
}

/// The rows that compute fully connected layers.
const std::vector<std::string_view> kFc{"onednn", "onednn-nhwc", "eigen", "im2col"};

TEST(Baselines, FullyConnectedLayersAgreeWithTheReference) {
  for (const Pass pass : {Pass::fwd, Pass::bwd_d, Pass::bwd_w}) {
    for (const std::int64_t n : {1, 7, 33}) {
      for (const std::int64_t c : {17, 64}) {
        for (const std::int64_t k : {1, 30, 65}) {
          check_rows(kFc, {.shape = Fc{.n = n, .c = c, .k = k}, .pass = pass});
        }
      }
    }
  }
}

TEST(Baselines, PostOpsOfFullyConnectedLayersAgreeWithTheReference) {
  for (const char* post :
       {"+bias", "+relu", "+bias+relu", "+sigmoid", "+bias+tanh", "+gelu_erf", "+bias+gelu_tanh"}) {
    for (const char* shape : {"fc mb1ic17oc30", "fc mb7ic64oc65", "fc mb33ic17oc1"}) {
      check_rows(kFc, parse_problem(std::string(shape) + post));
    }
  }
}

TEST(Baselines, GradientsBehindAnActivationAndOfABiasAgreeWithTheReference) {
  for (const char* sizes : {"mb1ic17oc30", "mb7ic64oc65", "mb33ic17oc1"}) {
    const std::string by_data = std::string("fc bwd_d f32 ") + sizes,
                      by_weights = std::string("fc bwd_w f32 ") + sizes + "+bias";
    check_rows(kFc, parse_problem(by_weights));
    for (const char* post : {"+relu", "+sigmoid", "+tanh", "+gelu_erf", "+gelu_tanh"}) {
      check_rows(kFc, parse_problem(by_data + post));
      check_rows(kFc, parse_problem(by_weights + post));
    }
  }
  check_rows(kFc, parse_problem("fc bwd_w f32 mb7ic64oc65+relu"));
}

TEST(Baselines, FullyConnectedLayersRunOptimizedCodeNamedForWhatItIs) {
  for (const char* pass : {"fwd", "bwd_d", "bwd_w"}) {
    for (const std::string_view name : kFc) {
      const Implementation* row = row_named(name);
      if (!row || !runs_here(*row)) continue;
      const auto prepared =
          row->prepare(parse_problem(std::string(pass) + " fc mb33ic64oc65"), "", {.threads = 2});
      const std::string ran = std::get<Runnable>(prepared).implementation;
      EXPECT_FALSE(ran.starts_with("ref")) << name << ' ' << pass << ": " << ran;
      EXPECT_EQ(ran.starts_with("sgemm:"), name == "im2col") << ran;
    }
  }
}

TEST(Baselines, SmallGemmsRefuseTheWayBack) {
  for (const char* text : {"bwd_d mb1ic8ih4oc8oh4kh1ph0", "bwd_w mb1ic8ih4oc8oh4kh1ph0"}) {
    EXPECT_EQ(refusal(*row_named("small-gemm"), parse_problem(text), ""),
              "the small-GEMM loops are those of fwd");
  }
}

TEST(Baselines, SmallGemmsRefuseFullyConnectedLayers) {
  for (const char* text : {"fc mb2ic8oc8", "fc bwd_d mb2ic8oc8", "fc bwd_w mb2ic8oc8"}) {
    EXPECT_EQ(refusal(*row_named("small-gemm"), parse_problem(text), ""),
              "the small-GEMM loops are those of a convolution");
  }
}

TEST(Baselines, WhatNobodyDoesIsRefusedWithAReason) {
  const Problem problem = parse_problem("mb1ic8ih4oc8oh4kh1ph0");
  Problem narrow = problem;
  narrow.type = DType::bf16;
  for (const Implementation& row : baselines()) {
    EXPECT_EQ(refusal(row, problem, "fast"), "a baseline takes no choice");
    EXPECT_EQ(refusal(row, narrow, ""), "the baselines compute f32 only");
    if (row.name != "onednn") {
      EXPECT_NE(refusal(row, {.shape = Lstm{}, .pass = Pass::bwd}, ""), "") << row.name;
    }
    EXPECT_EQ(refusal(row, {.shape = Conv{}, .pass = Pass::bwd_w, .bias = true}, ""),
              "the baselines compute bwd_d and bwd_w without bias and activation only");
  }
}

TEST(Baselines, SizesBeyondAnIntAreRefusedBeforeAnythingIsAllocated) {
  const Conv conv{.n = std::int64_t{1} << 28, .c = 3, .h = 56, .w = 56, .k = 64, .p = 56, .q = 56};
  for (const std::string_view name : {"im2col", "eigen", "libxsmm", "libxsmm-rim"}) {
    const Implementation* row = row_named(name);
    if (!row || !runs_here(*row)) continue;
    EXPECT_NE(refusal(*row, conv_problem(conv), "").find("beyond"), std::string::npos) << name;
    if (name.starts_with("libxsmm")) continue;
    for (const Pass pass : {Pass::fwd, Pass::bwd_d, Pass::bwd_w}) {
      const Problem fc{.shape = Fc{.n = std::int64_t{1} << 32, .c = 1024}, .pass = pass};
      EXPECT_NE(refusal(*row, fc, "").find("beyond"), std::string::npos) << name;
    }
  }
}

TEST(Baselines, SmallGemmsRunOnEveryIsaUpToTheBest) {
  for (const Isa isa : {Isa::ref, Isa::avx2, Isa::avx512}) {
    if (isa > best_isa()) continue;
    for (const char* text : {"mb1ic24ih9oc40oh9kh3ph1", "mb1ic67ih5oc3oh3kh1sh2ph0"}) {
      Question question(parse_problem(text));
      check(*row_named("small-gemm"), question, {.threads = 2, .isa = isa});
    }
  }
}

TEST(Baselines, WhatIsTimedBesidesTheWorkIsSaid) {
  const auto included = [](const char* name, const char* text) -> std::optional<std::string> {
    const Implementation* row = row_named(name);
    if (!row || !runs_here(*row)) return std::nullopt;
    return std::get<Runnable>(row->prepare(parse_problem(text), "", {})).included;
  };
  EXPECT_EQ(included("small-gemm", "mb1ic8ih4oc8oh4kh3ph1"), "padding copy");
  EXPECT_EQ(included("small-gemm", "mb1ic8ih4oc8oh4kh1ph0"), "");
  EXPECT_EQ(included("im2col", "mb1ic8ih4oc8oh4kh3ph1").value_or("im2col"), "im2col");
  EXPECT_EQ(included("im2col", "mb1ic8ih4oc8oh4kh1ph0").value_or(""), "");
  EXPECT_EQ(included("im2col", "fc mb2ic8oc8").value_or(""), "");
  EXPECT_EQ(included("im2col", "bwd_d mb1ic8ih4oc8oh4kh3ph1").value_or("col2im"), "col2im");
  EXPECT_EQ(included("im2col", "bwd_w mb1ic8ih4oc8oh4kh3ph1").value_or("im2col"), "im2col");
  EXPECT_EQ(included("im2col", "bwd_d mb1ic8ih4oc8oh4kh1ph0").value_or(""), "");
  for (const char* name : {"im2col", "eigen"}) {
    const std::string pass = "a pass over y for bias and activation";
    EXPECT_EQ(included(name, "fc mb2ic8oc8+bias").value_or(pass), pass);
    const std::string back = "a pass over dy for the derivative, a pass for the bias";
    EXPECT_EQ(included(name, "fc bwd_w mb2ic8oc8+bias+tanh").value_or(back), back);
    EXPECT_EQ(included(name, "fc bwd_w mb2ic8oc8").value_or(""), "");
    EXPECT_EQ(included(name, "mb1ic8ih4oc8oh4kh3ph1+relu").value_or("im2col; " + pass),
              "im2col; " + pass);
  }
}

TEST(Baselines, CallersThreadCountStays) {
  omp_set_num_threads(3);
  Question question(parse_problem("mb1ic8ih4oc8oh4kh3ph1"));
  for (const Implementation& row : baselines()) {
    if (!runs_here(row)) continue;
    check(row, question, {.threads = 2});
    EXPECT_EQ(omp_get_max_threads(), 3) << row.name;
  }
}

}  // namespace
}  // namespace loopbrick
