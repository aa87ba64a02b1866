#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/isa.h"

namespace loopbrick {

/// Stable facts of this machine: what goes into keys. Nothing that changes from boot to boot.
///
/// Text  `id`: "amd-epyc-f26m2 2c1s l2-1024k l3-32m avx512", the same after every boot of the same
/// machine.
struct Machine {
  std::string id;
  std::string cpu;  ///< model name as the system gives it, with family and model
  Isa isa = Isa::ref;
  int cores = 1;    ///< physical, of the whole machine
  int threads = 1;  ///< logical, of the whole machine
  int sockets = 1;
  std::int64_t l1d_bytes = 0;  ///< caches are those of a core of the fastest kind
  std::int64_t l2_bytes = 0;
  std::int64_t l3_bytes = 0;  ///< one last-level cache
  std::int64_t memory_bytes = 0;
};

/// `root` is "/" but for tests on recorded /sys and /proc trees; what is missing there is filled
/// from CPUID or left 0.
Machine detect_machine(const std::string& root = "/");

/// Threads that may really run here: one per physical core of the fastest kind that the affinity
/// mask allows, at most as many as the cgroup v1 and v2 CPU quota grants.
int available_threads(const std::string& root = "/");

/// What keeps numbers on this machine from being trusted, one sentence each; and the grade that
/// follows: A nothing found, B measurable with care, C do not publish.
struct Trust {
  char grade = 'A';
  std::vector<std::string> warnings;
};

/// What the cost model and every percentage stand on. Measured, not looked up.
struct Limits {
  int threads = 1;
  Isa isa = Isa::ref;
  double peak_flops = 0.0;    ///< fused multiply-adds on registers, all threads
  double clock_hz = 0.0;      ///< from a chain of dependent adds
  double l1_bandwidth = 0.0;  ///< bytes a second one thread reads from each level
  double l2_bandwidth = 0.0;
  double l3_bandwidth = 0.0;     ///< one thread, while all threads read
  double dram_bandwidth = 0.0;   ///< all threads together
  double barrier_seconds = 0.0;  ///< one OpenMP barrier of all threads
  double fork_seconds = 0.0;     ///< one empty OpenMP parallel region
  double other_cpus = 0.0;       ///< that other processes kept busy meanwhile
  double noise_floor = 0.0;      ///< half width of the 99 % interval of an A/A ratio, as a fraction
};

}  // namespace loopbrick
