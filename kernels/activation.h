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

/// Whether the slope of the function follows from its result: what a backward pass then keeps of
/// the forward pass. Of gelu it keeps the argument.
bool slope_follows_from_result(Activation activation);

/// The slope of the function, in double, where its result, or of gelu its argument, is `kept`:
/// relu 1 above 0, sigmoid y (1 - y), tanh 1 - y^2, none 1.
double slope(Activation activation, double kept);

/// No two results of the function lie further apart than this times the distance of their
/// arguments.
double steepest_slope(Activation activation);

/// Whether results of the function are rounded: neither 0 nor the argument.
bool is_curved(Activation activation);

}  // namespace loopbrick
