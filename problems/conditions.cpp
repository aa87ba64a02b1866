#include "problems/conditions.h"

#include <fmt/format.h>
#include <sstream>

#include "kernels/text.h"

namespace loopbrick {
namespace {

constexpr int kMostThreads = 65536;

int parse_threads(const std::string& word) {
  if (!word.starts_with('t'))
    throw ParseError(fmt::format("'{}' is no thread count like t2", word));
  return static_cast<int>(
      parse_count(std::string_view(word).substr(1), "threads", 1, kMostThreads));
}

CacheState parse_cache(const std::string& word) {
  if (word == "warm") return CacheState::warm;
  if (word == "cold") return CacheState::cold;
  throw ParseError(fmt::format("'{}' is no cache state; it is warm or cold", word));
}

void take_difference(Conditions& conditions, const std::string& word) {
  if (word == "hugepages" && conditions.pages == Pages::small) {
    conditions.pages = Pages::huge;
  } else if (word == "denormals" && conditions.flush_denormals) {
    conditions.flush_denormals = false;
  } else if (word == "once" && !conditions.transposes_once) {
    conditions.transposes_once = true;
  } else {
    throw ParseError(fmt::format(
        "'{}' is no condition; behind t2 avx512 warm stand hugepages, denormals and once", word));
  }
}

}  // namespace

std::string to_string(const Conditions& conditions) {
  std::string text = fmt::format("t{} {} {}", conditions.threads, to_string(conditions.isa),
                                 conditions.cache == CacheState::warm ? "warm" : "cold");
  if (conditions.pages == Pages::huge) text += " hugepages";
  if (!conditions.flush_denormals) text += " denormals";
  if (conditions.transposes_once) text += " once";
  return text;
}

Conditions parse_conditions(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::string threads, isa, cache, word;
  if (!(words >> threads >> isa >> cache)) {
    throw ParseError(fmt::format("'{}' lacks a word; conditions are like t2 avx512 warm", text));
  }
  Conditions conditions{
      .threads = parse_threads(threads), .isa = parse_isa(isa), .cache = parse_cache(cache)};
  while (words >> word) take_difference(conditions, word);
  return conditions;
}

}  // namespace loopbrick
