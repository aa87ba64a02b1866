#pragma once
#include <string_view>

namespace loopbrick {

/// Element type of the operands. bf16 and s8 have a place in every key and layout; f32 has kernels
/// today.
enum class DType { f32, bf16, s8 };

std::string_view to_string(DType type);

/// Errors  throws ParseError unless the text is f32, bf16 or s8.
DType parse_dtype(std::string_view text);

int size_bytes(DType type);

/// Depth elements that lie together in one packed B element: 1 (f32), 2 (bf16), 4 (s8).
int depth_group(DType type);

}  // namespace loopbrick
