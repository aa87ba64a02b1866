#include "measure/cpuid.h"

#include <algorithm>
#include <cpuid.h>

namespace loopbrick {
namespace {

struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

/// All zeros if the CPU does not have the leaf.
Registers cpuid(unsigned leaf, unsigned subleaf = 0) {
  Registers r;
  if (__get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d) == 0) return {};
  return r;
}

unsigned bits(unsigned word, int from, int count) { return (word >> from) & ((1U << count) - 1U); }

std::int64_t cache_bytes(const Registers& cache) {
  const std::int64_t line = bits(cache.b, 0, 12) + 1;
  const std::int64_t partitions = bits(cache.b, 12, 10) + 1;
  const std::int64_t ways = bits(cache.b, 22, 10) + 1;
  return line * partitions * ways * (static_cast<std::int64_t>(cache.c) + 1);
}

/// Reads one cache a subleaf until a subleaf has none.
CacheSizes caches_of_leaf(unsigned leaf) {
  constexpr unsigned kInstructions = 2;
  CacheSizes sizes;
  for (unsigned subleaf = 0; subleaf < 8; ++subleaf) {
    const Registers cache = cpuid(leaf, subleaf);
    const unsigned type = bits(cache.a, 0, 5);
    if (type == 0) break;
    if (type == kInstructions) continue;
    const unsigned level = bits(cache.a, 5, 3);
    if (level == 1) sizes.l1d_bytes = cache_bytes(cache);
    if (level == 2) sizes.l2_bytes = cache_bytes(cache);
    if (level == 3) sizes.l3_bytes = cache_bytes(cache);
  }
  return sizes;
}

}  // namespace

CacheSizes cpuid_caches() {
  const CacheSizes intel = caches_of_leaf(4);
  return intel.l1d_bytes > 0 ? intel : caches_of_leaf(0x8000001d);
}

int cpuid_threads_per_core() {
  constexpr unsigned kTopology = 0xb;
  constexpr unsigned kThreadLevel = 1;
  const Registers level = cpuid(kTopology, 0);
  return bits(level.c, 8, 8) == kThreadLevel ? std::max(1, static_cast<int>(bits(level.b, 0, 16)))
                                             : 1;
}

bool cpuid_virtual_machine() { return bits(cpuid(1).c, 31, 1) == 1; }

}  // namespace loopbrick
