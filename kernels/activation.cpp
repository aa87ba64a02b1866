#include "kernels/activation.h"

#include <array>
#include <cmath>
#include <cstddef>

namespace loopbrick {

std::string_view to_string(Activation activation) {
  constexpr std::array<std::string_view, 4> kTexts{"none", "relu", "sigmoid", "tanh"};
  return kTexts[static_cast<std::size_t>(activation)];
}

std::optional<Activation> find_activation(std::string_view name) {
  if (name == "logistic") return Activation::sigmoid;
  for (const Activation each : {Activation::relu, Activation::sigmoid, Activation::tanh}) {
    if (name == to_string(each)) return each;
  }
  return std::nullopt;
}

double activated(Activation activation, double x) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::relu:
      return x < 0.0 ? 0.0 : x;
    case Activation::sigmoid:
      return 1.0 / (1.0 + std::exp(-x));
    case Activation::tanh:
      return std::tanh(x);
  }
  return x;
}

}  // namespace loopbrick
