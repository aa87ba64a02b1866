#include "loops/operand_store.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace loopbrick {
namespace {

constexpr std::int64_t kBytes = 100 * 4;

OperandStore::Key key(const char* problem, int operand, const char* layout = "") {
  return {.problem = problem, .operand = operand, .layout = layout, .pages = Pages::small};
}

/// Copies, and counts how often.
struct Copy {
  int times = 0;
  std::function<void(std::span<const float>, std::span<float>)> lay_out =
      [this](std::span<const float> from, std::span<float> to) {
        ++times;
        std::copy(from.begin(), from.end(), to.begin());
      };
};

TEST(OperandStore, TheSameOperandInTheSameLayoutIsShared) {
  OperandStore store;
  const auto x = store.take(key("p", 0), kBytes);
  EXPECT_EQ(store.take(key("p", 0), kBytes), x);
  EXPECT_NE(store.take(key("p", 1), kBytes), x);
  EXPECT_NE(store.take(key("p", 0, "64"), kBytes), x);
  EXPECT_NE(store.take(key("q", 0), kBytes), x);
}

TEST(OperandStore, ForgetsOtherProblemsAndAllButTheLastFewLayouts) {
  OperandStore store;
  const std::weak_ptr<LaidOutOperand> other = store.take(key("p", 0), kBytes);
  const std::weak_ptr<LaidOutOperand> x = store.take(key("q", 0), kBytes);
  EXPECT_TRUE(other.expired());
  const auto held = store.take(key("q", 1, "held"), kBytes);
  for (int layout = 0; layout < 20; ++layout)
    store.take(key("q", 1, std::to_string(layout).c_str()), kBytes);
  EXPECT_TRUE(x.expired());
  EXPECT_EQ(store.take(key("q", 1, "held"), kBytes), held);
}

TEST(LaidOutOperand, IsLoadedAgainWhenItsValuesChangedAndNotBefore) {
  LaidOutOperand operand(kBytes, Pages::small);
  std::vector<float> values(100, 1.0F);
  Copy copy;
  operand.load(values, copy.lay_out);
  operand.load(values, copy.lay_out);
  EXPECT_EQ(copy.times, 1);
  values[99] = 2.0F;
  operand.load(values, copy.lay_out);
  EXPECT_EQ(copy.times, 2);
  EXPECT_EQ(operand.floats()[99], 2.0F);
}

TEST(LaidOutOperandDeathTest, AnInputThatWasLoadedCannotBeWritten) {
  LaidOutOperand operand(kBytes, Pages::small);
  Copy copy;
  operand.load(std::vector<float>(100, 1.0F), copy.lay_out);
  EXPECT_DEATH(operand.floats()[0] = 2.0F, "");
}

}  // namespace
}  // namespace loopbrick
