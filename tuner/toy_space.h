#pragma once
#include <cmath>
#include <string>

#include "tuner/space.h"

namespace loopbrick {

/// For tests: choices a, b, c and d of ten values each; sums of a and b above 12 and odd c with d =
/// 0 are refused. The best point is 3 4 7 2; the model thinks that c does not matter and takes the
/// best d for `believed_d`.
inline Space toy_space(int believed_d = 2) {
  Space space;
  for (const char* name : {"a", "b", "c", "d"}) {
    Choice choice{.name = name, .values = {}};
    for (int value = 0; value < 10; ++value) choice.values.push_back(std::to_string(value));
    space.choices.push_back(choice);
  }
  space.why_not = [](const Point& point) -> std::optional<Refusal> {
    if (point.size() == 2 && point[0] + point[1] > 12)
      return Refusal{.sentence = "a and b are too much"};
    if (point.size() == 4 && point[2] % 2 == 1 && point[3] == 0)
      return Refusal{.sentence = "odd c needs d"};
    return std::nullopt;
  };
  space.text = [](const Point& point) {
    std::string text;
    for (const auto value : point) text += (text.empty() ? "" : " ") + std::to_string(value);
    return text;
  };
  space.predict = [believed_d](const Point& point) {
    return 1.0 + 0.10 * std::abs(point[0] - 3) + 0.07 * std::abs(point[1] - 4) +
           0.05 * std::abs(point[3] - believed_d);
  };
  return space;
}

/// What a point of toy_space really takes.
inline double toy_seconds(const Point& point) {
  return 1.0 + 0.10 * std::abs(point[0] - 3) + 0.07 * std::abs(point[1] - 4) +
         0.04 * std::abs(point[2] - 7) + 0.05 * std::abs(point[3] - 2);
}

}  // namespace loopbrick
