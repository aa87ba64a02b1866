#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "problems/operands.h"

namespace loopbrick {
namespace {

using Values = std::vector<std::vector<float>>;

Values filled(const Problem& problem, Fill kind) {
  Values values;
  for (const Operand& operand : operands(problem))
    values.emplace_back(static_cast<std::size_t>(elements(operand)));
  fill(problem, kind, 11, Arrays(values.begin(), values.end()));
  return values;
}

std::vector<float> run_reference(const Problem& problem, Values values, int threads) {
  reference(problem, Arrays(values.begin(), values.end()), threads);
  return values.back();
}

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Seven loops, straight from the definition.
std::vector<float> naive_conv(const Problem& problem, const Values& v) {
  const Conv& c = std::get<Conv>(problem.shape);
  const std::int64_t inputs = c.c / c.groups, features = c.k / c.groups;
  std::vector<float> y;
  for (std::int64_t n = 0; n < c.n; ++n)
    for (std::int64_t k = 0; k < c.k; ++k)
      for (std::int64_t p = 0; p < c.p; ++p)
        for (std::int64_t q = 0; q < c.q; ++q) {
          double sum = problem.bias ? static_cast<double>(v[2][at(k)]) : 0.0;
          for (std::int64_t i = 0; i < inputs; ++i)
            for (std::int64_t r = 0; r < c.r; ++r)
              for (std::int64_t s = 0; s < c.s; ++s) {
                const std::int64_t h = p * c.stride_h - c.pad_h + r * c.dilation_h;
                const std::int64_t w = q * c.stride_w - c.pad_w + s * c.dilation_w;
                if (h < 0 || h >= c.h || w < 0 || w >= c.w) continue;
                const std::int64_t channel = k / features * inputs + i;
                sum += static_cast<double>(v[0][at(((n * c.c + channel) * c.h + h) * c.w + w)]) *
                       static_cast<double>(v[1][at(((k * inputs + i) * c.r + r) * c.s + s)]);
              }
          if (problem.activation == Activation::relu) sum = std::max(sum, 0.0);
          y.push_back(static_cast<float>(sum));
        }
  return y;
}

/// Whole numbers, so that the order of the sums does not matter: equality is exact.
void expect_naive(const std::string& text, int threads) {
  const Problem problem = parse_problem(text);
  const Values values = filled(problem, Fill::integers);
  const std::vector<float> want = naive_conv(problem, values);
  EXPECT_EQ(run_reference(problem, values, threads), want) << text;
}

TEST(Reference, ConvolutionsOfEveryKindMatchSevenLoops) {
  for (const char* text : {
           "mb2ic3ih5oc16kh3ph1",
           "mb2ic17ih5oc17kh3ph1",
           "mb1ic17ih8oc17oh4kh3ph1sh2",
           "mb1ic16ih5oc16oh8kh3ph3",  // more padding than filter
           "mb1ic4ih5oc3oh4kh3ph2",
           "mb1ic4ih9oc3oh2kh3",     // less padding behind; rows never read
           "mb1ic4ih4oc5oh5kh1ph0",  // a window wholly in the padding behind
           "mb1ic2ih9oc33kh3dh2ph2",
           "mb2ic5ih7oc8kh3_iw9kw2pw1dw3sw2",
           "g4mb1ic20ih5oc20kh3ph1",
           "g17mb2ic17ih8oc17oh4kh3ph1sh2",
           "g3mb1ic6ih5oc51kh2",
           "mb1ic32ih67iw4oc48oh23ow5kh1kw1sh3sw1pw1",  // stride beyond the filter
           "mb1ic16oc16ih14oh1kh1sh14",
           "mb2ic3oc17_iw8ow5kw3pw3sw2",
           "mb1ic3ih1oc1kh1",
           "mb3ic300ih2oc18kh3ph1+bias+relu",
           "g2mb1ic8ih5oc34kh3ph1+bias",
           "mb2ic3ih5oc16kh3ph1+relu",
           "nhwc mb1ic4ih60oc2oh1kh50",  // one filter longer than a piece of the depth
       }) {
    expect_naive(text, 3);
  }
}

TEST(Reference, RandomConvolutionsMatchSevenLoops) {
  std::mt19937_64 random(20190615);
  const auto pick = [&random](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  for (int trial = 0; trial < 150; ++trial) {
    const int groups = pick(0, 2) == 0 ? pick(2, 5) : 1;
    std::string text = "g" + std::to_string(groups) + "mb" + std::to_string(pick(1, 3));
    text +=
        "ic" + std::to_string(groups * pick(1, 9)) + "oc" + std::to_string(groups * pick(1, 20));
    for (const char* side : {"h", "w"}) {
      const int filter = pick(1, 4), dilation = pick(0, 2), pad = pick(0, 4), stride = pick(1, 4);
      const int span = (filter - 1) * (dilation + 1) + 1;
      const int in = std::max(1, span - 2 * pad) + pick(0, 9);
      const int out = (in + 2 * pad - span) / stride + 1;
      const auto add = [&](const char* what, int value) {
        text += what + (side + std::to_string(value));
      };
      add("i", in), add("k", filter), add("d", dilation), add("p", pad), add("s", stride);
      add("o", std::max(1, out + pick(-2, 1)));
    }
    if (pick(0, 1) == 1) text += "+bias";
    if (pick(0, 1) == 1) text += "+relu";
    expect_naive(text, 1 + trial % 2);
  }
}

TEST(Reference, ChannelsFromOneTo33) {
  for (int ic = 1; ic <= 33; ic += 4) {
    for (int oc = 1; oc <= 33; ++oc) {
      expect_naive("mb1ic" + std::to_string(ic) + "ih3oc" + std::to_string(oc) + "kh3ph1", 1);
    }
  }
}

/// Three loops for each pass: the sum of products over the letter that the result lacks.
std::vector<float> naive_fc(const Problem& problem, const Values& v) {
  const Fc& fc = std::get<Fc>(problem.shape);
  const bool by_data = problem.pass == Pass::bwd_d;
  std::vector<float> result(v[2].size());
  for (std::int64_t i = 0; i < (by_data ? fc.n : fc.k); ++i)
    for (std::int64_t c = 0; c < fc.c; ++c) {
      double sum = 0.0;
      for (std::int64_t d = 0; d < (by_data ? fc.k : fc.n); ++d) {
        const float dy = by_data ? v[0][at(i * fc.k + d)] : v[1][at(d * fc.k + i)];
        const float other = by_data ? v[1][at(d * fc.c + c)] : v[0][at(d * fc.c + c)];
        sum += static_cast<double>(dy) * static_cast<double>(other);
      }
      result[at(i * fc.c + c)] = static_cast<float>(sum);
    }
  return result;
}

TEST(Reference, BackwardFullyConnectedLayersMatchThreeLoops) {
  for (const char* pass : {"bwd_d", "bwd_w"}) {
    for (const char* sizes : {"mb1ic1oc1", "mb7ic17oc33", "mb33ic64oc5", "mb19ic300oc2"}) {
      const Problem problem = parse_problem(std::string("fc ") + pass + " f32 " + sizes);
      const Values values = filled(problem, Fill::integers);
      EXPECT_EQ(run_reference(problem, values, 3), naive_fc(problem, values)) << pass << sizes;
    }
  }
}

/// The gradients are those of the forward pass: moving one input by h moves sum(y dy) by h times
/// its gradient.
TEST(Reference, GradientsOfAFullyConnectedLayerAreDifferencesOfItsForwardPass) {
  const std::string sizes = " f32 mb3ic5oc4";
  const Problem forward = parse_problem("fc fwd" + sizes);
  const Values values = filled(forward, Fill::integers);  // x w y
  const Values by_data = filled(parse_problem("fc bwd_d" + sizes), Fill::integers);
  const std::vector<float>& dy = by_data[0];
  const auto loss = [&](const Values& inputs) {
    const std::vector<float> y = run_reference(forward, inputs, 1);
    double sum = 0.0;
    for (std::size_t i = 0; i < y.size(); ++i)
      sum += static_cast<double>(y[i]) * static_cast<double>(dy[i]);
    return sum;
  };
  const std::vector<float> dx =
      run_reference(parse_problem("fc bwd_d" + sizes), {dy, values[1], values[0]}, 1);
  const std::vector<float> dw =
      run_reference(parse_problem("fc bwd_w" + sizes), {values[0], dy, values[1]}, 1);
  for (const std::size_t operand : {std::size_t{0}, std::size_t{1}}) {
    const std::vector<float>& gradient = operand == 0 ? dx : dw;
    ASSERT_EQ(gradient.size(), values[operand].size());
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      Values moved = values;
      moved[operand][i] += 1.0F;  // the loss is linear in it
      EXPECT_EQ(loss(moved) - loss(values), static_cast<double>(gradient[i]));
    }
  }
}

std::vector<float> naive_gemm(const Problem& problem, const Values& v) {
  const Gemm& g = std::get<Gemm>(problem.shape);
  std::vector<float> c;
  for (std::int64_t m = 0; m < g.m; ++m)
    for (std::int64_t n = 0; n < g.n; ++n) {
      double sum = problem.bias ? static_cast<double>(v[2][at(n)]) : 0.0;
      for (std::int64_t i = 0; i < g.batch; ++i)
        for (std::int64_t k = 0; k < g.k; ++k)
          sum += static_cast<double>(v[0][at((i * g.m + m) * g.k + k)]) *
                 static_cast<double>(v[1][at((i * g.k + k) * g.n + n)]);
      c.push_back(
          static_cast<float>(problem.activation == Activation::relu ? std::max(sum, 0.0) : sum));
    }
  return c;
}

TEST(Reference, GemmsMatchThreeLoops) {
  for (const char* text :
       {"gemm 1x1:1x1", "gemm 7x13:13x17bs5", "gemm 8x64:64x16", "gemm 9x1:1x33bs261",
        "gemm 3x5000:5000x20+bias+relu", "gemm 5x3:3x4bs3000", "gemm 2x3:3x5ld7:8:9+bias"}) {
    const Problem problem = parse_problem(text);
    const Values values = filled(problem, Fill::integers);
    EXPECT_EQ(run_reference(problem, values, 2), naive_gemm(problem, values)) << text;
  }
}

TEST(Reference, EmptySumsAreZeroOrTheBias) {
  for (const char* text : {"gemm 3x0:0x4", "gemm 3x5:5x4bs0", "gemm 3x0:0x4bs0"}) {
    const Problem problem = parse_problem(text);
    EXPECT_EQ(run_reference(problem, filled(problem, Fill::uniform), 2),
              std::vector<float>(12, 0.0F))
        << text;
  }
  const Problem biased = parse_problem("gemm 1x0:0x4+bias");
  const Values values = filled(biased, Fill::uniform);
  EXPECT_EQ(run_reference(biased, values, 1), values[2]);
}

TEST(Reference, FullyConnectedIsAMatrixProduct) {
  const Problem problem = parse_problem("fc mb19ic37oc21+bias+relu");
  const Values v = filled(problem, Fill::integers);
  const std::vector<float> y = run_reference(problem, v, 2);
  for (std::int64_t n = 0; n < 19; ++n) {
    for (std::int64_t k = 0; k < 21; ++k) {
      float sum = v[2][at(k)];
      for (std::int64_t c = 0; c < 37; ++c) sum += v[0][at(n * 37 + c)] * v[1][at(k * 37 + c)];
      EXPECT_EQ(y[at(n * 21 + k)], std::max(sum, 0.0F)) << n << ' ' << k;
    }
  }
}

TEST(Reference, SumsInDouble) {
  const Problem problem = parse_problem("gemm 1x3:3x1");
  const Values values = {
      {16777216.0F, 1.0F, 1.0F}, {1.0F, 1.0F, 1.0F}, {0.0F}};  // in float32: 2^24
  EXPECT_EQ(run_reference(problem, values, 1)[0], 16777218.0F);
}

TEST(Reference, ThreadsDoNotChangeABit) {
  const Problem problem = parse_problem("mb2ic40ih9oc24kh3ph1");
  const Values values = filled(problem, Fill::uniform);
  EXPECT_EQ(run_reference(problem, values, 1), run_reference(problem, values, 4));
}

TEST(Reference, SaysWhatItCannotDo) {
  for (const char* text : {"conv bwd_d mb1ic3ih5oc4kh3", "conv bwd_w mb1ic3ih5oc4kh3"}) {
    const Problem problem = parse_problem(text);
    Values values = filled(problem, Fill::ones);
    EXPECT_THROW(reference(problem, Arrays(values.begin(), values.end()), 1), std::invalid_argument)
        << text;
  }
  EXPECT_FALSE(has_reference(Problem{.shape = Fc{}, .pass = Pass::train}));
  const Problem problem = parse_problem("fc mb2ic3oc4");
  Values values = filled(problem, Fill::ones);
  values[1].pop_back();
  EXPECT_THROW(reference(problem, Arrays(values.begin(), values.end()), 1), std::invalid_argument);
  EXPECT_THROW(reference(problem, {}, 1), std::invalid_argument);
}

}  // namespace
}  // namespace loopbrick
