#pragma once
#include <string>
#include <string_view>

#include "kernels/isa.h"

namespace loopbrick {

enum class CacheState { warm, cold };
enum class Pages { small, huge };

/// All that changes a time besides problem, schedule, machine and build. Part of every key.
///
/// Text  "t2 avx512 warm", then what differs from the defaults: "hugepages", "denormals",
///       "once".
struct Conditions {
  int threads = 1;
  Isa isa = Isa::avx512;
  CacheState cache = CacheState::warm;
  Pages pages = Pages::small;
  bool flush_denormals = true;
  bool transposes_once = false;  ///< weights of passes by data are transposed outside of the time

  friend bool operator==(const Conditions&, const Conditions&) = default;
};

std::string to_string(const Conditions& conditions);

/// Errors  throws ParseError that names the bad word.
Conditions parse_conditions(std::string_view text);

}  // namespace loopbrick
