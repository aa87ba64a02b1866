#include "kernels/dtype.h"

#include <gtest/gtest.h>

#include "kernels/text.h"

namespace loopbrick {
namespace {

TEST(DType, TextIsInvertedByParse) {
  for (const DType type : {DType::f32, DType::bf16, DType::s8}) {
    EXPECT_EQ(parse_dtype(to_string(type)), type);
  }
}

TEST(DType, UnknownTextIsNamed) {
  for (const std::string_view text : {"f64", "", "F32", "f32 "}) {
    EXPECT_THROW(parse_dtype(text), ParseError) << text;
  }
}

TEST(DType, OneGroupOfTheDepthIsFourBytes) {
  for (const DType type : {DType::f32, DType::bf16, DType::s8}) {
    EXPECT_EQ(size_bytes(type) * depth_group(type), 4);
  }
}

}  // namespace
}  // namespace loopbrick
