#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <fmt/format.h>
#include <limits>

#include "kernels/text.h"
#include "problems/lstm_reference.h"
#include "problems/operands.h"

// Every element is a function of (seed, operand, index) alone: any part of an operand can be filled
// again, in any order.

namespace loopbrick {
namespace {

struct FillName {
  Fill fill;
  std::string_view name;
};

constexpr std::array kFills = {FillName{Fill::integers, "integers"},
                               FillName{Fill::uniform, "uniform"}, FillName{Fill::ones, "ones"},
                               FillName{Fill::denormal, "denormal"}};

/// The output function of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): 64 well mixed bits of a
/// counter.
std::uint64_t mix(std::uint64_t counter) {
  std::uint64_t z = counter * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

/// A whole number in [0, count) from the upper bits.
std::int64_t pick(std::uint64_t bits, std::uint64_t count) {
  return static_cast<std::int64_t>(((bits >> 32U) * count) >> 32U);
}

float uniform(std::uint64_t bits) {
  const auto upper = static_cast<std::int64_t>(bits >> 40U);  // 24 bits: exact in float32
  return static_cast<float>(upper - (1 << 23)) * 0x1p-23F;
}

/// 1e-42 is 714 units of 2^-149; sign and size vary around it. Made of bits, so that nothing
/// flushes it to zero.
float denormal(std::uint64_t bits) {
  const auto units = static_cast<std::uint32_t>(357 + pick(bits, 714));
  return std::bit_cast<float>(units | (static_cast<std::uint32_t>(bits & 1U) << 31U));
}

/// The largest whole number in the fill: sums of `length` products, a bias included, stay below
/// 2^24 (backward behind a sigmoid, whose slope is up to 6 there, almost surely).
std::int64_t largest_integer(std::int64_t length) {
  return length < (std::int64_t{1} << 22) - 1 ? 2 : 1;
}

template <typename Make>
void fill_span(std::span<float> values, std::uint64_t key, Make make) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = make(mix(key + i));
}

void fill_input(std::span<float> values, Fill kind, std::uint64_t key, std::int64_t largest) {
  const auto integer = [largest](std::uint64_t bits) {
    return static_cast<float>(pick(bits, static_cast<std::uint64_t>(2 * largest + 1)) - largest);
  };
  switch (kind) {
    case Fill::integers:
      return fill_span(values, key, integer);
    case Fill::uniform:
      return fill_span(values, key, uniform);
    case Fill::denormal:
      return fill_span(values, key, denormal);
    case Fill::ones:
      return std::fill(values.begin(), values.end(), 1.0F);
  }
}

bool is_lstm_weight(const Problem& problem, const Operand& operand) {
  return std::holds_alternative<Lstm>(problem.shape) &&
         (operand.name == "w" || operand.name == "r");
}

}  // namespace

std::string_view to_string(Fill fill) {
  return std::ranges::find(kFills, fill, &FillName::fill)->name;
}

Fill parse_fill(std::string_view text) {
  const auto fill = std::ranges::find(kFills, text, &FillName::name);
  if (fill != kFills.end()) return fill->fill;
  throw ParseError(
      fmt::format("'{}' is no fill; fills are integers, uniform, ones and denormal", text));
}

void fill(const Problem& problem, Fill kind, std::uint64_t seed, const Arrays& arrays) {
  const std::vector<Operand> all = operands(problem);
  const std::int64_t largest = largest_integer(sum_length(problem));
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].output) {
      std::ranges::fill(arrays.at(i), std::numeric_limits<float>::quiet_NaN());
    } else {
      fill_input(arrays.at(i), kind, mix(mix(seed) + i), largest);
      if (!is_lstm_weight(problem, all[i])) continue;
      const float scale = lstm_weight_scale(std::get<Lstm>(problem.shape), kind);
      if (scale == 1.0F) continue;  // a multiplication may flush denormals
      for (float& value : arrays.at(i)) value *= scale;
    }
  }
}

}  // namespace loopbrick
