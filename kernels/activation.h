#pragma once
#include <optional>
#include <string_view>

namespace loopbrick {

/// What happens to the finished C tile while it is still in registers: max(x, 0), 1 / (1 + e^-x) or
/// tanh x.
enum class Activation { none, relu, sigmoid, tanh };

std::string_view to_string(Activation activation);

/// The activation of this name, but none; oneDNN calls sigmoid logistic.
std::optional<Activation> find_activation(std::string_view name);

/// The function in double; NaN stays NaN.
double activated(Activation activation, double x);

}  // namespace loopbrick
