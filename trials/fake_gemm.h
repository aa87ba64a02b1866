#pragma once
#include <span>

#include "problems/implementation.h"

namespace loopbrick {

/// A gemm in three plain loops, for tests. Its choice is the misbehaviour: "right" is none; the
/// others are in fake_gemm.cpp. "right 2" and so on do the same.
std::span<const Implementation> fake_table();

}  // namespace loopbrick
