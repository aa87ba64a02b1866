#pragma once
#include <string_view>

namespace loopbrick {

/// Instruction sets that kernels are generated for, least first. `ref` is plain C++ and runs
/// anywhere.
enum class Isa { ref, avx2, avx512 };

std::string_view to_string(Isa isa);

/// Errors  throws ParseError unless the text is ref, avx2 or avx512.
Isa parse_isa(std::string_view text);

/// The best that this CPU and its operating system run (CPUID and XGETBV; avx2 means AVX2 with FMA,
/// avx512 means F, BW, DQ and VL).
Isa best_isa();

/// float32 values in one vector register: 1, 8 or 16.
int lanes(Isa isa);

}  // namespace loopbrick
