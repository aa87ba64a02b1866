#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "problems/operands.h"

namespace loopbrick {
namespace {

using Values = std::vector<std::vector<float>>;

/// Differences over 2^-5 of float results: 2^-10 f''' / 6 and roundings of 1e-6 * 16 remain.
constexpr double kStep = 0x1p-6;
constexpr double kNear = 1e-3;

constexpr const char* kActivations[] = {"",      "+relu",     "+sigmoid",
                                        "+tanh", "+gelu_erf", "+gelu_tanh"};

void run(const Problem& problem, Values& values, int threads = 1) {
  reference(problem, Arrays(values.begin(), values.end()), threads);
}

Values filled(const Problem& problem, Fill kind) {
  Values values;
  for (const Operand& operand : operands(problem))
    values.emplace_back(static_cast<std::size_t>(elements(operand)));
  fill(problem, kind, 5, Arrays(values.begin(), values.end()));
  return values;
}

/// A layer forward, y = f(x w + b), and the gradients of sum(y dy).
struct Layer {
  Layer(const std::string& of, const std::string& after)
      : sizes(of), activation(after), values(filled(problem("fwd", "+bias"), Fill::uniform)) {
    if (activation == "+relu") whole_and_a_half();
    dy = filled(parse_problem("fc bwd_d f32 " + sizes), Fill::uniform)[0];
    run(problem("fwd", "+bias"), values);
    Values sums = values;
    run(parse_problem("fc fwd f32 " + sizes + "+bias"), sums);
    kept = activation.starts_with("+gelu") ? sums.back() : values.back();
  }

  Problem problem(const std::string& pass, const std::string& bias) const {
    return parse_problem("fc " + pass + " f32 " + sizes + bias + activation);
  }

  /// No difference steps over the edge of relu: sums are whole numbers and a half.
  void whole_and_a_half() {
    values = filled(problem("fwd", "+bias"), Fill::integers);
    for (float& bias : values[2]) bias += 0.5F;
  }

  /// sum(y dy) after one element of x, w or b has moved.
  double loss(std::size_t operand, std::size_t i, double by) const {
    Values moved = values;
    moved[operand][i] += static_cast<float>(by);
    run(problem("fwd", "+bias"), moved);
    double sum = 0.0;
    for (std::size_t y = 0; y < dy.size(); ++y)
      sum += static_cast<double>(moved.back()[y]) * static_cast<double>(dy[y]);
    return sum;
  }

  /// dx, dw and db by the passes backward.
  Values gradients() const {
    Values by_data{dy, values[1]}, by_weights{values[0], dy};
    if (!activation.empty()) {
      by_data.push_back(kept);
      by_weights.push_back(kept);
    }
    by_data.emplace_back(values[0].size());
    by_weights.emplace_back(values[1].size());
    by_weights.emplace_back(values[2].size());
    run(problem("bwd_d", ""), by_data);
    run(problem("bwd_w", "+bias"), by_weights);
    return {by_data.back(), by_weights[by_weights.size() - 2], by_weights.back()};
  }

  std::string sizes, activation;
  Values values;  ///< x w b y
  std::vector<float> dy, kept;
};

TEST(FcBackwardReference, GradientsAreThoseOfFiniteDifferences) {
  for (const std::string sizes : {"mb3ic5oc7", "mb1ic17oc9", "mb13ic3oc1"}) {
    for (const char* activation : kActivations) {
      const Layer layer(sizes, activation);
      const Values gradients = layer.gradients();
      for (std::size_t operand = 0; operand < 3; ++operand) {
        for (std::size_t i = 0; i < gradients[operand].size(); ++i) {
          const double rise = layer.loss(operand, i, kStep) - layer.loss(operand, i, -kStep);
          EXPECT_NEAR(gradients[operand][i], rise / (2.0 * kStep), kNear)
              << sizes << activation << " operand " << operand << " element " << i;
        }
      }
    }
  }
}

TEST(FcBackwardReference, ThreadsDoNotChangeABit) {
  for (const char* text : {"fc bwd_d mb9ic20oc33+tanh", "fc bwd_w mb9ic20oc33+bias+gelu_erf"}) {
    const Problem problem = parse_problem(text);
    Values one = filled(problem, Fill::uniform);
    Values four = one;
    run(problem, one, 1);
    run(problem, four, 4);
    EXPECT_EQ(one.back(), four.back()) << text;
    EXPECT_EQ(one[one.size() - 2], four[four.size() - 2]) << text;
  }
}

}  // namespace
}  // namespace loopbrick
