#pragma once
#include "measure/machine.h"

namespace loopbrick {

/// For tests: a machine of round numbers. 32 FLOP a cycle and vector pipe of 16 lanes, two pipes, 4
/// GHz.
inline Machine test_machine() {
  Machine machine;
  machine.id = "test 2c1s l2-1024k l3-32m avx512";
  machine.isa = Isa::avx512;
  machine.l1d_bytes = 48 << 10;
  machine.l2_bytes = 1 << 20;
  machine.l3_bytes = 32 << 20;
  return machine;
}

inline Limits test_limits(int threads) {
  Limits limits;
  limits.threads = threads;
  limits.isa = Isa::avx512;
  limits.clock_hz = 4e9;
  limits.peak_flops = 64 * 4e9 * threads;
  limits.l1_bandwidth = 500e9;
  limits.l2_bandwidth = 200e9;
  limits.l3_bandwidth = 60e9;
  limits.dram_bandwidth = 60e9;
  limits.barrier_seconds = 1e-6;
  limits.fork_seconds = 2e-6;
  limits.noise_floor = 0.01;
  return limits;
}

}  // namespace loopbrick
