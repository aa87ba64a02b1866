#include "kernels/dtype.h"

#include <array>
#include <fmt/format.h>

#include "kernels/text.h"

namespace loopbrick {
namespace {

struct TypeRow {
  DType type;
  std::string_view text;
  int bytes;
  int depth_group;
};

constexpr std::array kTypes{
    TypeRow{DType::f32, "f32", 4, 1},
    TypeRow{DType::bf16, "bf16", 2, 2},
    TypeRow{DType::s8, "s8", 1, 4},
};

const TypeRow& row(DType type) { return kTypes[static_cast<std::size_t>(type)]; }

}  // namespace

std::string_view to_string(DType type) { return row(type).text; }

DType parse_dtype(std::string_view text) {
  for (const TypeRow& candidate : kTypes) {
    if (candidate.text == text) return candidate.type;
  }
  throw ParseError(fmt::format("'{}' is not a type: f32, bf16 or s8", text));
}

int size_bytes(DType type) { return row(type).bytes; }

int depth_group(DType type) { return row(type).depth_group; }

}  // namespace loopbrick
