#include "trials/operand_memory.h"

#include <gtest/gtest.h>

namespace loopbrick {
namespace {

const Problem kOdd = parse_problem("gemm 3x5:5x7");  // no operand fills a page or a vector

TEST(OperandMemory, HoldsWhatAnEarlierMappingWrote) {
  const FileDescriptor memory = make_operand_memory(kOdd);
  {
    const MappedArrays writable = map_operands(kOdd, memory.get(), true);
    float value = 0.0F;
    for (const std::span<float> array : writable.arrays) {
      for (float& element : array) element = value++;
    }
  }
  const MappedArrays again = map_operands(kOdd, memory.get(), false);
  ASSERT_EQ(again.arrays.size(), 3U);
  EXPECT_EQ(again.arrays[0].size(), 15U);
  EXPECT_EQ(again.arrays[2].size(), 21U);
  EXPECT_EQ(again.arrays[1][0], 15.0F);
  EXPECT_EQ(again.arrays[2][20], 70.0F);
}

TEST(OperandMemory, AnEmptyOperandIsEmpty) {
  const Problem empty = parse_problem("gemm 3x0:0x7");
  const FileDescriptor memory = make_operand_memory(empty);
  EXPECT_TRUE(map_operands(empty, memory.get(), true).arrays[0].empty());
}

TEST(OperandMemoryDeathTest, MappedReadOnlyItCannotBeWritten) {
  const FileDescriptor memory = make_operand_memory(kOdd);
  const MappedArrays mapped = map_operands(kOdd, memory.get(), false);
  EXPECT_DEATH(mapped.arrays[0][0] = 1.0F, "");
}

TEST(OperandMemoryDeathTest, EveryOutputEndsAtAnUnreadablePage) {
  const MappedArrays outputs = map_outputs(kOdd, Arrays(3));
  float* const end = outputs.arrays[2].data() + outputs.arrays[2].size();
  end[-1] = 1.0F;
  EXPECT_DEATH(end[0] = 1.0F, "");
}

}  // namespace
}  // namespace loopbrick
