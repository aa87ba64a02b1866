#include <array>
#include <fmt/format.h>

#include "kernels/text.h"
#include "problems/descriptor.h"
#include "problems/shape_text.h"

namespace loopbrick {
namespace {

constexpr std::array kSizes = {SizeName{"l"},   SizeName{"t"},   SizeName{"mb"},
                               SizeName{"sic"}, SizeName{"slc"}, SizeName{"dhc"}};

}  // namespace

Lstm parse_lstm(std::string_view text, std::int64_t minibatch) {
  const Descriptor sizes(text, kSizes);
  const std::int64_t hidden = sizes.required("sic");
  const std::int64_t layers = sizes.value_or("l", 1);
  if (layers != 1)
    throw UnsupportedProblem(fmt::format("'l{}' stacks layers; one layer is a problem", layers));
  const std::int64_t output = sizes.value_or("dhc", hidden);
  if (output != hidden) {
    throw UnsupportedProblem(
        fmt::format("dhc{} differs from sic{}; a hidden state has one size", output, hidden));
  }
  return {.t = sizes.required("t"),
          .n = sizes.value_or("mb", minibatch),
          .c = sizes.value_or("slc", hidden),
          .k = hidden};
}

std::vector<LayerTexts> split_lstm_stack(std::string_view text) {
  const Descriptor sizes(text, kSizes);
  const std::int64_t layers = sizes.value_or("l", 1);
  if (layers == 1) return {{std::string(text), 1}};
  std::string inner;
  for (const std::string_view letters : {"t", "mb", "sic", "dhc"}) {
    if (const auto size = sizes.find(letters)) inner += fmt::format("{}{}", letters, *size);
  }
  const auto inputs = sizes.find("slc");
  if (!inputs || inputs == sizes.find("sic")) return {{inner, layers}};
  return {{inner + fmt::format("slc{}", *inputs), 1}, {inner, layers - 1}};
}

std::string to_string(const Lstm& lstm) {
  std::string text = fmt::format("t{}mb{}sic{}", lstm.t, lstm.n, lstm.k);
  if (lstm.c != lstm.k) text += fmt::format("slc{}", lstm.c);
  return text;
}

}  // namespace loopbrick
