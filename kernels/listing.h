#pragma once
#include <filesystem>
#include <string>

#include "kernels/brgemm_kernel.h"

namespace loopbrick {

/// The kernel's instructions, one a line, in Intel's syntax and up to the return (constants follow
/// it).
///
/// Errors  throws std::invalid_argument for a kernel of Isa::ref, which has no code,
/// std::runtime_error
///         if objdump (package binutils) cannot be run.
std::string listing(const BrgemmKernel& kernel);

/// The bare code, for other tools: objdump -D -b binary -m i386:x86-64 -M intel FILE.
///
/// Errors  throws std::runtime_error naming the file if it cannot be written.
void write_code(const BrgemmKernel& kernel, const std::filesystem::path& file);

}  // namespace loopbrick
