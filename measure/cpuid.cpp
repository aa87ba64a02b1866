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

/// Family with the extended family added, as /proc/cpuinfo shows it.
unsigned family() {
  const unsigned signature = cpuid(1).a;
  return bits(signature, 8, 4) + bits(signature, 20, 8);
}

/// What AMD's old leaves say, which hypervisors leave in place when they hide the new one. Their L3
/// is the sum over the package; one cache of it has 32 MiB since Zen 3 and had 16 MiB before.
CacheSizes caches_of_amd_legacy_leaves() {
  constexpr std::int64_t kKibi = 1024;
  constexpr unsigned kZen3 = 0x19;
  const Registers other = cpuid(0x80000006);
  const std::int64_t package_l3 = bits(other.d, 18, 14) * 512 * kKibi;
  const std::int64_t one_l3 = (family() >= kZen3 ? 32 : 16) * kKibi * kKibi;
  return {.l1d_bytes = bits(cpuid(0x80000005).c, 24, 8) * kKibi,
          .l2_bytes = bits(other.c, 16, 16) * kKibi,
          .l3_bytes = std::min(package_l3, one_l3)};
}

}  // namespace

CacheSizes cpuid_caches() {
  CacheSizes sizes = caches_of_leaf(4);
  if (sizes.l1d_bytes == 0) sizes = caches_of_leaf(0x8000001d);
  return sizes.l1d_bytes > 0 ? sizes : caches_of_amd_legacy_leaves();
}

std::string cpuid_vendor() {
  const Registers name = cpuid(0);
  std::string text;
  for (const unsigned word : {name.b, name.d, name.c}) {
    for (int letter = 0; letter < 4; ++letter) {
      text += static_cast<char>(bits(word, 8 * letter, 8));
    }
  }
  return text;
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
