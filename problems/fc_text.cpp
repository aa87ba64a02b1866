#include <array>
#include <fmt/format.h>

#include "problems/descriptor.h"
#include "problems/shape_text.h"

namespace loopbrick {
namespace {

constexpr std::array kSizes = {SizeName{"mb"}, SizeName{"ic"}, SizeName{"oc"}};

}  // namespace

Fc parse_fc(std::string_view text, std::int64_t minibatch) {
  const Descriptor sizes(text, kSizes);
  return {
      .n = sizes.value_or("mb", minibatch), .c = sizes.required("ic"), .k = sizes.required("oc")};
}

std::string to_string(const Fc& fc) { return fmt::format("mb{}ic{}oc{}", fc.n, fc.c, fc.k); }

}  // namespace loopbrick
