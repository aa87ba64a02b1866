#include "kernels/activation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace loopbrick {
namespace {

/// Below it the shares of both are less than any double: there they are 0 times a finite number.
constexpr double kNothing = -40.0;

double gelu_erf(double x) {
  const double bounded = std::max(x, kNothing);
  return 0.5 * bounded * std::erfc(-bounded / std::numbers::sqrt2);
}

/// 1 + tanh u as 2 / (1 + e^-2u), which loses no digits where tanh u is near -1.
double gelu_tanh(double x) {
  const double bounded = std::max(x, kNothing);
  const double u =
      std::sqrt(2.0 / std::numbers::pi) * bounded * (1.0 + 0.044715 * bounded * bounded);
  return bounded / (1.0 + std::exp(-2.0 * u));
}

}  // namespace

std::string_view to_string(Activation activation) {
  constexpr std::array<std::string_view, 6> kTexts{"none", "relu",     "sigmoid",
                                                   "tanh", "gelu_erf", "gelu_tanh"};
  return kTexts[static_cast<std::size_t>(activation)];
}

std::optional<Activation> find_activation(std::string_view name) {
  if (name == "logistic") return Activation::sigmoid;
  if (name == "gelu") return Activation::gelu_erf;
  for (const Activation each : {Activation::relu, Activation::sigmoid, Activation::tanh,
                                Activation::gelu_erf, Activation::gelu_tanh}) {
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
    case Activation::gelu_erf:
      return gelu_erf(x);
    case Activation::gelu_tanh:
      return gelu_tanh(x);
  }
  return x;
}

double steepest_slope(Activation activation) {
  const bool is_gelu = activation == Activation::gelu_erf || activation == Activation::gelu_tanh;
  return is_gelu ? 1.13 : 1.0;  // gelu is steepest at sqrt 2
}

bool is_curved(Activation activation) {
  return activation != Activation::none && activation != Activation::relu;
}

}  // namespace loopbrick
