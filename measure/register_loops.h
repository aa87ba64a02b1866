#pragma once
#include <cstdint>

#include "kernels/isa.h"

namespace loopbrick {

/// A loop whose speed is a property of the machine, not of the compiler: written instruction by
/// instruction.
struct RegisterLoop {
  void (*run)(std::int64_t rounds) = nullptr;
  double work_per_round = 0.0;
};

/// Independent fused multiply-adds on registers; work is FLOPs.
///
/// Needs  a CPU that has `isa`.
RegisterLoop multiply_add_loop(Isa isa);

/// Dependent adds of two registers; work is cycles.
RegisterLoop dependent_add_loop();

/// Reads `bytes` bytes at `data` once, a full vector at a time.
///
/// Needs  `bytes` a multiple of kReadGrain; `data` aligned to 64.
using ReadLoop = void (*)(const void* data, std::int64_t bytes);
inline constexpr std::int64_t kReadGrain = 512;
ReadLoop read_loop(Isa isa);

}  // namespace loopbrick
