#pragma once
#include <cstdint>
#include <string>

namespace loopbrick {

/// Sizes that the CPU tells without the system's help; 0 where it does not tell.
struct CacheSizes {
  std::int64_t l1d_bytes = 0;
  std::int64_t l2_bytes = 0;
  std::int64_t l3_bytes = 0;
};

/// Source  Intel SDM, CPUID leaf 4; AMD APM volume 3, leaf 8000001Dh with the same
///         layout, and 80000005h/6h where a hypervisor hides those.
CacheSizes cpuid_caches();

/// "GenuineIntel", "AuthenticAMD", ...
std::string cpuid_vendor();

/// At least 1.
int cpuid_threads_per_core();

/// Is a hypervisor present?
bool cpuid_virtual_machine();

}  // namespace loopbrick
