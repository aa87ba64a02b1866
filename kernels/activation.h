#pragma once
#include <optional>
#include <string_view>

namespace loopbrick {

/// What happens to the finished C tile while it is still in registers: max(x, 0), 1 / (1 + e^-x),
/// tanh x, or x times the share of a normal distribution that lies below x: by the error function,
/// x / 2 (1 + erf(x / sqrt 2)), or as its usual approximation by tanh,
/// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
///
/// Source  gelu: Hendrycks and Gimpel, arXiv:1606.08415.
enum class Activation { none, relu, sigmoid, tanh, gelu_erf, gelu_tanh };

std::string_view to_string(Activation activation);

/// The activation of this name, but none. oneDNN calls sigmoid logistic; gelu is gelu_erf.
std::optional<Activation> find_activation(std::string_view name);

/// The function in double; NaN stays NaN.
double activated(Activation activation, double x);

/// No two results of the function lie further apart than this times the distance of their
/// arguments.
double steepest_slope(Activation activation);

/// Whether results of the function are rounded: neither 0 nor the argument.
bool is_curved(Activation activation);

}  // namespace loopbrick
