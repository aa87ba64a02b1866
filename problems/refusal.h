#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace loopbrick {

/// Why something cannot be: three words to copy in a search, a sentence only when somebody reads
/// it.
///
/// `sentence` is a string literal in which {got}, {limit} and {axis} stand for the values; its
/// address tells rules apart.
struct Refusal {
  const char* sentence = "";
  std::int64_t got = 0;
  std::int64_t limit = 0;
  char axis = '?';

  friend bool operator==(const Refusal&, const Refusal&) = default;
};

std::string to_string(const Refusal& refusal);

}  // namespace loopbrick
