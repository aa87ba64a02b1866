#include "problems/lstm_reference.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace loopbrick {
namespace {

using Values = std::vector<std::vector<float>>;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

Values filled(const Problem& problem, Fill kind) {
  Values values;
  for (const Operand& operand : operands(problem))
    values.emplace_back(static_cast<std::size_t>(elements(operand)));
  fill(problem, kind, 5, Arrays(values.begin(), values.end()));
  return values;
}

void run(const Problem& problem, Values& values, int threads = 1) {
  reference(problem, Arrays(values.begin(), values.end()), threads);
}

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// Cell by cell, straight from the equations; expects h and c of every step.
void expect_naive(const Problem& problem, const Values& v) {
  const auto& lstm = std::get<Lstm>(problem.shape);
  const std::int64_t size = lstm.n * lstm.k;
  std::vector<double> h(v[1].begin(), v[1].end()), c(v[2].begin(), v[2].end());
  for (std::int64_t t = 0; t < lstm.t; ++t) {
    const std::vector<double> before = h;
    for (std::int64_t n = 0; n < lstm.n; ++n)
      for (std::int64_t k = 0; k < lstm.k; ++k) {
        double sum[4];
        for (std::int64_t g = 0; g < 4; ++g) {
          const std::int64_t row = g * lstm.k + k;
          sum[g] = static_cast<double>(v[5][at(row)]);
          for (std::int64_t i = 0; i < lstm.c; ++i)
            sum[g] += static_cast<double>(v[3][at(row * lstm.c + i)]) *
                      static_cast<double>(v[0][at((t * lstm.n + n) * lstm.c + i)]);
          for (std::int64_t i = 0; i < lstm.k; ++i)
            sum[g] += static_cast<double>(v[4][at(row * lstm.k + i)]) * before[at(n * lstm.k + i)];
        }
        double& cell = c[at(n * lstm.k + k)];
        cell = sigmoid(sum[2]) * cell + sigmoid(sum[0]) * std::tanh(sum[1]);
        h[at(n * lstm.k + k)] = sigmoid(sum[3]) * std::tanh(cell);
      }
    for (std::int64_t i = 0; i < size; ++i) {
      EXPECT_NEAR(v[6][at(t * size + i)], h[at(i)], 1e-7) << "h of step " << t << ", " << i;
      EXPECT_NEAR(v[7][at(t * size + i)], c[at(i)], 3e-7) << "c of step " << t << ", " << i;
    }
  }
}

TEST(LstmReference, FollowsTheEquationsInTheOrderICFO) {
  for (const char* text : {"lstm t1mb1sic1", "lstm t3mb2sic34slc17", "lstm train t4mb9sic8slc33"}) {
    const Problem problem = parse_problem(text);
    Values values = filled(problem, Fill::uniform);
    run(problem, values);
    expect_naive(problem, values);
  }
}

/// sum of dh * h + dc * c_T of the forward pass with these inputs.
double loss(const Problem& forward, const Values& inputs, const Values& gradients) {
  Values values(inputs.begin(), inputs.begin() + 6);
  values.emplace_back(gradients[0].size());
  values.emplace_back(gradients[0].size());
  run(forward, values);
  double sum = 0.0;
  for (std::size_t i = 0; i < values[6].size(); ++i)
    sum += static_cast<double>(values[6][i]) * static_cast<double>(gradients[0][i]);
  const std::size_t last = values[7].size() - gradients[1].size();
  for (std::size_t i = 0; i < gradients[1].size(); ++i)
    sum += static_cast<double>(values[7][last + i]) * static_cast<double>(gradients[1][i]);
  return sum;
}

/// Differences over 2^-5 of float results: 2^-10 f''' / 6 and roundings of 1e-6 * 16 remain.
constexpr double kStep = 0x1p-6;
constexpr double kNear = 1e-3;

TEST(LstmReference, GradientsAreThoseOfFiniteDifferences) {
  for (const std::string sizes : {"t3mb2sic34slc17", "t1mb3sic5slc7", "t5mb1sic16slc16"}) {
    const Problem forward = parse_problem("lstm " + sizes);
    const Problem backward = parse_problem("lstm bwd " + sizes);
    Values values = filled(backward, Fill::uniform);
    run(backward, values);
    const Values gradients(values.begin() + 6, values.begin() + 8);
    // x h0 c0 w r b are inputs 0 to 5; dx dh0 dc0 dw dr db outputs 8 to 13
    for (std::size_t input = 0; input < 6; ++input) {
      const std::size_t count = values[input].size();
      for (std::size_t i = 0; i < count; i += 1 + count / 40) {
        Values moved(values.begin(), values.begin() + 6);
        const float centre = moved[input][i];
        moved[input][i] = centre + static_cast<float>(kStep);
        const double above = loss(forward, moved, gradients);
        moved[input][i] = centre - static_cast<float>(kStep);
        const double below = loss(forward, moved, gradients);
        EXPECT_NEAR(values[8 + input][i], (above - below) / (2.0 * kStep), kNear)
            << sizes << ": " << operands(backward)[8 + input].name << "[" << i << "]";
      }
    }
  }
}

TEST(LstmReference, ThreadsDoNotChangeABit) {
  for (const char* text : {"lstm t3mb10sic20slc9", "lstm bwd t3mb10sic20slc9"}) {
    const Problem problem = parse_problem(text);
    Values one = filled(problem, Fill::integers);
    Values four = one;
    run(problem, one, 1);
    run(problem, four, 4);
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(one[i], four[i]) << text;
  }
}

/// A fill that saturates every gate would hide errors of the sums.
TEST(LstmReference, GatesDoNotSaturate) {
  for (const Fill kind : {Fill::integers, Fill::uniform, Fill::ones}) {
    const Problem problem = parse_problem("lstm t4mb3sic256slc300");
    Values values = filled(problem, kind);
    run(problem, values);
    double squares = 0.0;
    for (const float h : values[6]) squares += static_cast<double>(h) * static_cast<double>(h);
    const double size = std::sqrt(squares / static_cast<double>(values[6].size()));
    EXPECT_GT(size, 0.1) << to_string(kind);
    EXPECT_LT(size, 0.8) << to_string(kind);
  }
}

TEST(LstmReference, ToleranceSeesAMissingProduct) {
  const Problem problem = parse_problem("lstm bwd t50mb168sic1024");
  EXPECT_LT(lstm_tolerance(problem, Fill::uniform, "dx"), 2e-5);
  EXPECT_LT(lstm_tolerance(problem, Fill::uniform, "dw"), 2e-3);
  EXPECT_EQ(lstm_tolerance(problem, Fill::integers, "dw"),
            4 * lstm_tolerance(problem, Fill::uniform, "dw"));
}

}  // namespace
}  // namespace loopbrick
