#pragma once
#include <cstdint>

#include "kernels/activation.h"
#include "kernels/isa.h"

namespace loopbrick {

/// dz[i] = dy[i] f'(kept[i]) for i < count, where kept is what the slope of f follows from: its
/// results, of gelu its arguments.
using SlopeProduct = void (*)(const float* dy, const float* kept, float* dz,
                              std::int64_t count) noexcept;

/// The product for an activation but none, by the instructions of one ISA. Slopes of gelu are exact
/// to 2^-22, absolutely; the others are as float rounds them.
SlopeProduct slope_product(Isa isa, Activation activation);

}  // namespace loopbrick
