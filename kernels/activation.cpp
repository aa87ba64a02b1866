#include "kernels/activation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace loopbrick {
namespace {

const double kSlope = std::sqrt(2.0 / std::numbers::pi);  // gelu_tanh's u is that times x at 0
constexpr double kCubic = 0.044715;

/// From -40 down the shares of both are less than any double, and infinity times 0 would be none.
double from_below(double x) { return std::max(x, -40.0); }

double gelu_erf(double x) {
  return 0.5 * from_below(x) * std::erfc(-from_below(x) / std::numbers::sqrt2);
}

/// (1 + tanh u) / 2 as 1 / (1 + e^-2u), which loses no digits where tanh u is near -1.
double share_of_tanh(double x) {
  return 1.0 / (1.0 + std::exp(-2.0 * kSlope * x * (1.0 + kCubic * x * x)));
}

double gelu_tanh(double x) { return from_below(x) * share_of_tanh(from_below(x)); }

double slope_of_gelu_erf(double x) {
  const double density = std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
  return 0.5 * std::erfc(-x / std::numbers::sqrt2) + x * density;
}

double slope_of_gelu_tanh(double x) {
  const double share = share_of_tanh(x);
  return share + 2.0 * x * share * (1.0 - share) * kSlope * (1.0 + 3.0 * kCubic * x * x);
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

bool slope_follows_from_result(Activation activation) {
  return activation != Activation::gelu_erf && activation != Activation::gelu_tanh;
}

double slope(Activation activation, double kept) {
  switch (activation) {
    case Activation::none:
      return 1.0;
    case Activation::relu:
      return kept > 0.0 ? 1.0 : 0.0;
    case Activation::sigmoid:
      return kept * (1.0 - kept);
    case Activation::tanh:
      return 1.0 - kept * kept;
    case Activation::gelu_erf:
      return slope_of_gelu_erf(std::clamp(kept, -40.0, 40.0));
    case Activation::gelu_tanh:
      return slope_of_gelu_tanh(std::clamp(kept, -40.0, 40.0));
  }
  return 1.0;
}

double steepest_slope(Activation activation) {
  return slope_follows_from_result(activation) ? 1.0 : 1.13;  // gelu is steepest at sqrt 2
}

bool is_curved(Activation activation) {
  return activation != Activation::none && activation != Activation::relu;
}

}  // namespace loopbrick
