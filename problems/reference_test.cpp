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

/// Seven loops, straight from the definition: `visit` gets where x, w and y lie of every product.
template <typename Visit>
void each_product(const Conv& c, Visit visit) {
  const std::int64_t inputs = c.c / c.groups, features = c.k / c.groups;
  for (std::int64_t n = 0; n < c.n; ++n)
    for (std::int64_t k = 0; k < c.k; ++k)
      for (std::int64_t p = 0; p < c.p; ++p)
        for (std::int64_t q = 0; q < c.q; ++q)
          for (std::int64_t i = 0; i < inputs; ++i)
            for (std::int64_t r = 0; r < c.r; ++r)
              for (std::int64_t s = 0; s < c.s; ++s) {
                const std::int64_t h = p * c.stride_h - c.pad_h + r * c.dilation_h;
                const std::int64_t w = q * c.stride_w - c.pad_w + s * c.dilation_w;
                if (h < 0 || h >= c.h || w < 0 || w >= c.w) continue;
                const std::int64_t channel = k / features * inputs + i;
                visit(at(((n * c.c + channel) * c.h + h) * c.w + w),
                      at(((k * inputs + i) * c.r + r) * c.s + s),
                      at(((n * c.k + k) * c.p + p) * c.q + q));
              }
}

std::vector<float> naive_conv(const Problem& problem, const Values& v) {
  const Conv& c = std::get<Conv>(problem.shape);
  std::vector<double> sums(v.back().size());
  const auto product = [](float one, float other) {
    return static_cast<double>(one) * static_cast<double>(other);
  };
  each_product(c, [&](std::size_t x, std::size_t w, std::size_t y) {
    if (problem.pass == Pass::bwd_d) sums[x] += product(v[0][y], v[1][w]);
    if (problem.pass == Pass::bwd_w) sums[w] += product(v[0][x], v[1][y]);
    if (problem.pass == Pass::fwd) sums[y] += product(v[0][x], v[1][w]);
  });
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (problem.bias) sums[i] += static_cast<double>(v[2][i / at(c.p * c.q) % at(c.k)]);
    if (problem.activation == Activation::relu) sums[i] = std::max(sums[i], 0.0);
  }
  return {sums.begin(), sums.end()};
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

TEST(Reference, BackwardConvolutionsOfEveryKindMatchSevenLoops) {
  for (const char* text : {
           "mb2ic3ih5oc16kh3ph1", "mb2ic17ih5oc17kh3ph1", "mb1ic17ih8oc17oh4kh3ph1sh2",
           "mb1ic16ih5oc16oh8kh3ph3",  // more padding than filter
           "mb1ic4ih5oc3oh4kh3ph2",
           "mb1ic4ih9oc3oh2kh3",     // rows that no window reads
           "mb1ic4ih4oc5oh5kh1ph0",  // a window wholly in the padding behind
           "mb2ic2ih9oc33kh3dh2ph2", "mb2ic5ih7oc8kh3_iw9kw2pw1dw3sw2",
           "g17mb2ic17ih8oc17oh4kh3ph1sh2", "g3mb2ic6ih5oc51kh2",
           "mb1ic32ih67iw4oc48oh23ow5kh1kw1sh3sw1pw1",  // stride beyond the filter
           "mb1ic3ih60oc2oh2kh50",                      // one filter longer than a piece of depth
           "mb3ic3ih30oc2kh3ph1",                       // more pixels than a piece of depth
       }) {
    for (const char* pass : {"bwd_d ", "bwd_w "}) expect_naive(std::string(pass) + text, 3);
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
    for (const char* pass : {"bwd_d ", "bwd_w "}) expect_naive(pass + text, 1 + trial % 2);
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

/// What sum(y dy) grows by when one element of x or w grows by 1.
double growth(const Problem& forward, const Values& values, const std::vector<float>& dy,
              std::size_t operand, std::size_t index) {
  Values moved = values;
  moved[operand][index] += 1.0F;
  const std::vector<float> before = run_reference(forward, values, 1);
  const std::vector<float> after = run_reference(forward, moved, 1);
  double sum = 0.0;
  for (std::size_t i = 0; i < dy.size(); ++i)
    sum += static_cast<double>(after[i] - before[i]) * static_cast<double>(dy[i]);
  return sum;
}

/// The gradients are those of the forward pass. It is linear in x and in w, and the fill is of
/// whole numbers, so differences are exact.
void expect_gradients(const std::string& kind, const std::string& sizes) {
  const auto problem = [&](const char* pass) { return parse_problem(kind + pass + sizes); };
  const Values values = filled(problem(" fwd "), Fill::integers);  // x w y
  const std::vector<float> dy = filled(problem(" bwd_d "), Fill::integers)[0];
  const std::vector<float> dx = run_reference(problem(" bwd_d "), {dy, values[1], values[0]}, 1);
  const std::vector<float> dw = run_reference(problem(" bwd_w "), {values[0], dy, values[1]}, 1);
  for (const std::size_t operand : {std::size_t{0}, std::size_t{1}}) {
    const std::vector<float>& gradient = operand == 0 ? dx : dw;
    ASSERT_EQ(gradient.size(), values[operand].size());
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      ASSERT_EQ(growth(problem(" fwd "), values, dy, operand, i), static_cast<double>(gradient[i]))
          << kind << sizes << (operand == 0 ? " dx " : " dw ") << i;
    }
  }
}

TEST(Reference, GradientsAreDifferencesOfTheForwardPass) {
  expect_gradients("fc", "f32 mb3ic5oc4");
  for (const char* sizes :
       {"mb2ic3ih5iw4oc4kh3kw3ph1pw1", "mb1ic2ih7iw6oc3kh3kw2ph1pw0sh2sw1",
        "mb2ic2ih9iw7oc3oh4ow3kh2kw3ph1pw1sh3sw2", "mb1ic2ih8iw9oc2kh3kw2ph2pw1dh1dw2",
        "g3mb2ic6ih5iw4oc3kh3kw2ph1pw1sh1sw2", "g2mb1ic4ih5iw5oc6oh3ow4kh3kw3ph0pw0dh0dw0"}) {
    expect_gradients("conv", std::string("f32 ") + sizes);
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
  for (const char* pass : {"fwd", "bwd_d", "bwd_w"}) {
    const Problem problem = parse_problem(pass + std::string(" mb2ic40ih9oc24kh3ph1"));
    const Values values = filled(problem, Fill::uniform);
    EXPECT_EQ(run_reference(problem, values, 1), run_reference(problem, values, 4)) << pass;
  }
}

TEST(Reference, SaysWhatItCannotDo) {
  Values matrices = filled(parse_problem("gemm 2x3:3x4"), Fill::ones);
  const Problem backward{.shape = Gemm{.m = 2, .n = 4, .k = 3}, .pass = Pass::bwd_d};
  EXPECT_THROW(reference(backward, Arrays(matrices.begin(), matrices.end()), 1),
               std::invalid_argument);
  const Problem problem = parse_problem("fc mb2ic3oc4");
  Values values = filled(problem, Fill::ones);
  values[1].pop_back();
  EXPECT_THROW(reference(problem, Arrays(values.begin(), values.end()), 1), std::invalid_argument);
  EXPECT_THROW(reference(problem, {}, 1), std::invalid_argument);
}

}  // namespace
}  // namespace loopbrick
