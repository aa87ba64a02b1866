#include "library/primitive.h"

#include <gtest/gtest.h>

#include <fstream>

#include "kernels/isa.h"
#include "problems/operands.h"

namespace loopbrick {
namespace {

/// Plain arrays of a problem, filled, with the outputs of the reference behind them.
struct Data {
  explicit Data(const Problem& problem) {
    for (const Operand& operand : operands(problem))
      values.emplace_back(static_cast<std::size_t>(elements(operand)));
    Arrays arrays;
    for (auto& one : values) arrays.emplace_back(one);
    fill(problem, Fill::uniform, 1, arrays);
    want = values;
    Arrays wanted;
    for (auto& one : want) wanted.emplace_back(one);
    reference(problem, wanted, 1);
  }
  std::vector<const float*> inputs(std::size_t count) const {
    std::vector<const float*> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(values[i].data());
    return all;
  }
  std::vector<float*> outputs(std::size_t first) {
    std::vector<float*> all;
    for (std::size_t i = first; i < values.size(); ++i) all.push_back(values[i].data());
    return all;
  }

  std::vector<std::vector<float>> values, want;
};

class PrimitiveTest : public testing::TestWithParam<const char*> {};

TEST_P(PrimitiveTest, ComputesWhatTheReferenceDoes) {
  const Problem problem = parse_problem(GetParam());
  Data data(problem);
  Primitive primitive(GetParam(), {.threads = 1});
  EXPECT_EQ(primitive.problem(), to_string(problem));
  EXPECT_EQ(primitive.origin(), "model");
  primitive.compute(data.inputs(primitive.inputs().size()),
                    data.outputs(primitive.inputs().size()));
  Arrays got, want;
  for (auto& one : data.values) got.emplace_back(one);
  for (auto& one : data.want) want.emplace_back(one);
  for (const Mismatch& off : compare(problem, Fill::uniform, got, want))
    ADD_FAILURE() << to_string(off, problem);
}

INSTANTIATE_TEST_SUITE_P(OfEveryKindAndPass, PrimitiveTest,
                         testing::Values("conv fwd f32 mb1ic8ih6oc16oh6kh3ph1+bias+relu",
                                         "conv bwd_d f32 mb1ic16ih6oc16oh6kh3ph1",
                                         "conv bwd_w f32 mb2ic16ih6oc16oh6kh3ph1",
                                         "conv fwd f32 nhwc mb1ic3ih8oc24oh4kh3sh2ph1",
                                         "fc fwd f32 mb5ic24oc17+bias", "fc bwd_w f32 mb6ic24oc16",
                                         "gemm f32 7x5:5x19bs3ld9:21:20", "lstm fwd f32 t3mb4sic16",
                                         "lstm bwd f32 t3mb4sic16"),
                         [](const auto& test) { return "Case" + std::to_string(test.index); });

constexpr const char* kProblem = "conv fwd f32 mb1ic16ih6oc16oh6kh3ph1";
constexpr const char* kSchedule = "p n k16 q6 @ c16 * c r s";

TEST(Primitive, TakesTheSchedulesThatItIsGiven) {
  const Primitive primitive(kProblem, {.threads = 1, .schedule = kSchedule});
  EXPECT_EQ(primitive.schedule(), kSchedule);
  EXPECT_EQ(primitive.origin(), "given");
  EXPECT_EQ(primitive.stored_seconds(), 0.0);
}

TEST(Primitive, TakesWhatTheWisdomHas) {
  const std::string file = testing::TempDir() + "primitive_test.wisdom";
  std::ofstream(file) << "loopbrick wisdom 1 | another machine | a build gen1\n"
                      << "t1 " << to_string(best_isa()) << " warm | " << kProblem << " | "
                      << kSchedule << " | 0.25\n";
  const Primitive primitive(kProblem, {.threads = 1, .wisdom = file});
  EXPECT_EQ(primitive.schedule(), kSchedule);
  EXPECT_EQ(primitive.origin(), "wisdom, measured on another machine");
  EXPECT_EQ(primitive.stored_seconds(), 0.25);
  const Primitive other(kProblem, {.threads = 2, .wisdom = file});
  EXPECT_EQ(other.origin(), "model");
}

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

void expect_error(const std::string& piece, const std::function<void()>& work) {
  EXPECT_NE(error_of(work).find(piece), std::string::npos) << error_of(work);
}

TEST(Primitive, ErrorsNameTheBadPiece) {
  expect_error("'zz'", [] { Primitive("conv fwd f32 mb1ic8ih6zz3"); });
  expect_error("N k", [] { Primitive(kProblem, {.schedule = "N k"}); });
  expect_error("p n k16 @ c16", [] { Primitive(kProblem, {.schedule = "p n k16 @ c16"}); });
  expect_error("mmx", [] { Primitive(kProblem, {.isa = "mmx"}); });
  expect_error("-1 threads", [] { Primitive(kProblem, {.threads = -1}); });
  expect_error("nowhere.wisdom", [] { Primitive(kProblem, {.wisdom = "nowhere.wisdom"}); });
}

TEST(Primitive, RunRefusesWrongArrays) {
  Primitive primitive(kProblem, {.threads = 1, .schedule = kSchedule});
  alignas(64) static float memory[16 * 16 * 9 + 16];
  const float* const in = memory;
  expect_error("2 inputs, not 1", [&] { primitive.run({in}, {memory}); });
  expect_error("1 outputs, not 0", [&] { primitive.run({in, in}, {}); });
  expect_error("w is null", [&] { primitive.run({in, nullptr}, {memory}); });
  expect_error("y is not aligned", [&] { primitive.run({in, in}, {memory + 1}); });
  expect_error("there are 2 inputs: 2 is none", [&] { primitive.lay_out(2, in, memory); });
}

}  // namespace
}  // namespace loopbrick
