#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "problems/conditions.h"

namespace loopbrick {

/// What a rival is asked to use: the Conditions' ISA, or the CPU's best if that is less.
Isa wanted_isa(const Conditions& conditions);

/// The ISA behind an implementation's name: "brgconv:avx512_core", "sgemm:Haswell", "gebp:avx2".
/// Less than AVX2 with FMA counts as ref. Nothing if the name tells none ("gemm:jit").
std::optional<Isa> isa_named(std::string_view implementation);

/// What makes a time of this implementation doubtful, for Runnable::flag: "ref" for a reference, a
/// clause for another ISA than wanted, else empty.
std::string doubt(std::string_view implementation, Isa wanted);

}  // namespace loopbrick
