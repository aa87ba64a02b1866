#pragma once
#include <cstdint>
#include <vector>

namespace loopbrick {

/// Step sizes that cut `total` into 1, 2, 3 ... nearly equal parts, within [least, most], largest
/// first, each once: 14 from 4 on: 14 7 5 4. A total below `least` is one part.
std::vector<int> even_steps(std::int64_t total, int least, int most);

/// The same for 1, 2, 4, 8 ... parts.
std::vector<int> halved_steps(std::int64_t total, int least, int most);

/// Divisors of `total` within [least, most], largest first.
std::vector<int> divisors(std::int64_t total, int least, int most);

}  // namespace loopbrick
