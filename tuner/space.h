#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/few.h"
#include "problems/refusal.h"

namespace loopbrick {

/// One decision of a search space: a name and its values as texts.
struct Choice {
  std::string name;
  std::vector<std::string> values;
};

/// Indices into the choices' values, in order; shorter than the choices: a prefix, which stands for its subtree.
using Point = Few<std::uint16_t, 20>;

/// What can be chosen and what that means, typeless: loop nests, tiles of another language and compiler flags are
/// searched by the same strategies.
struct Space {
  std::vector<Choice> choices;                                     ///< in the order they are fixed
  std::function<std::optional<Refusal>(const Point&)> why_not;     ///< of a prefix: prunes its subtree
  std::function<std::string(const Point&)> text;                   ///< of a full point
  std::function<double(const Point&)> predict;                     ///< seconds of a full point
};

}  // namespace loopbrick
