#include "problems/descriptor.h"

#include <algorithm>
#include <fmt/format.h>

#include "kernels/text.h"

namespace loopbrick {
namespace {

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Cuts the characters off the front of `rest` for which `belongs` holds.
template <typename Predicate>
std::string_view take_while(std::string_view& rest, Predicate belongs) {
  const auto end = std::find_if_not(rest.begin(), rest.end(), belongs);
  const auto length = static_cast<std::size_t>(end - rest.begin());
  const std::string_view taken = rest.substr(0, length);
  rest.remove_prefix(length);
  return taken;
}

std::string names_of(std::span<const SizeName> known) {
  std::string names;
  for (const SizeName& size : known) {
    names += names.empty() ? "" : " ";
    names += size.letters;
  }
  return names;
}

const SizeName& look_up(std::string_view letters, std::span<const SizeName> known) {
  const auto size = std::ranges::find(known, letters, &SizeName::letters);
  if (size == known.end()) {
    throw ParseError(fmt::format("'{}' is no size here; sizes are {}", letters, names_of(known)));
  }
  return *size;
}

}  // namespace

Descriptor::Descriptor(std::string_view text, std::span<const SizeName> known) : text_(text) {
  std::string_view rest = text;
  take_while(rest, [](char c) { return c == '_'; });
  while (!rest.empty()) {
    const std::string_view piece = rest;
    const std::string_view letters = take_while(rest, is_letter);
    const std::string_view number = take_while(rest, is_digit);
    if (letters.empty()) {
      throw ParseError(fmt::format("'{}' in '{}' is not a size like ic64", piece, text));
    }
    const SizeName& size = look_up(letters, known);
    if (number.empty()) {
      throw ParseError(fmt::format("'{}' in '{}' has no number behind it", letters, text));
    }
    if (find(letters)) throw ParseError(fmt::format("'{}' is given twice in '{}'", letters, text));
    sizes_.push_back({letters, parse_count(number, letters, size.least, size.most)});
    take_while(rest, [](char c) { return c == '_'; });
  }
}

std::optional<std::int64_t> Descriptor::find(std::string_view letters) const {
  const auto size = std::ranges::find(sizes_, letters, &Size::letters);
  if (size == sizes_.end()) return std::nullopt;
  return size->value;
}

std::int64_t Descriptor::value_or(std::string_view letters, std::int64_t otherwise) const {
  return find(letters).value_or(otherwise);
}

std::int64_t Descriptor::required(std::string_view letters) const {
  const auto value = find(letters);
  if (!value) throw ParseError(fmt::format("'{}' lacks a size: {} is missing", text_, letters));
  return *value;
}

}  // namespace loopbrick
