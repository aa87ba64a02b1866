#pragma once
#include "measure/machine.h"

namespace loopbrick {

/// FLOP/s of fused multiply-adds on registers (a multiply and an add of 128 bits for Isa::ref), all
/// threads together, measured for about `seconds`.
///
/// Needs  `isa` at most best_isa().
double peak_probe(int threads, Isa isa, double seconds);

/// Clock of the calling thread's core in Hz, from a chain of dependent adds, one a cycle.
double clock_probe(double seconds);

/// Bytes a second that each of `threads` threads reads from a buffer of its own of `bytes` bytes,
/// all at once: the mean of the threads.
double read_bandwidth_probe(int threads, Isa isa, std::int64_t bytes, double seconds);

/// Measures all of Limits, in less than 2 s.
///
/// Needs    `isa` at most best_isa(); nobody else at work.
/// Threads  pins its OpenMP threads meanwhile, unless they are pinned.
Limits measure_limits(const Machine& machine, int threads, Isa isa);

}  // namespace loopbrick
