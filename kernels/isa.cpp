#include "kernels/isa.h"

#include <array>
#include <cpuid.h>
#include <cstdint>
#include <fmt/format.h>

#include "kernels/text.h"

namespace loopbrick {
namespace {

struct Leaf {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

/// All zeros if the CPU does not have the leaf.
Leaf cpuid(std::uint32_t number) {
  Leaf leaf;
  __get_cpuid_count(number, 0, &leaf.eax, &leaf.ebx, &leaf.ecx, &leaf.edx);
  return leaf;
}

bool has_all(std::uint32_t word, std::uint32_t bits) { return (word & bits) == bits; }

/// The register states that the operating system saves: bit 1 SSE, 2 AVX, 5 to 7 AVX-512.
std::uint32_t saved_states() {
  if (!has_all(cpuid(1).ecx, bit_OSXSAVE)) return 0;
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

Isa detect() {
  constexpr std::uint32_t kYmmState = 0x06;
  constexpr std::uint32_t kZmmState = 0xe6;
  const std::uint32_t states = saved_states();
  const Leaf features = cpuid(7);
  const bool avx2 = has_all(states, kYmmState) && has_all(cpuid(1).ecx, bit_AVX | bit_FMA) &&
                    has_all(features.ebx, bit_AVX2);
  if (!avx2) return Isa::ref;
  const bool avx512 =
      has_all(states, kZmmState) &&
      has_all(features.ebx, bit_AVX512F | bit_AVX512BW | bit_AVX512DQ | bit_AVX512VL);
  return avx512 ? Isa::avx512 : Isa::avx2;
}

struct IsaRow {
  Isa isa;
  std::string_view text;
  int lanes;
};

constexpr std::array kIsas{
    IsaRow{Isa::ref, "ref", 1},
    IsaRow{Isa::avx2, "avx2", 8},
    IsaRow{Isa::avx512, "avx512", 16},
};

const IsaRow& row(Isa isa) { return kIsas[static_cast<std::size_t>(isa)]; }

}  // namespace

std::string_view to_string(Isa isa) { return row(isa).text; }

Isa parse_isa(std::string_view text) {
  for (const IsaRow& candidate : kIsas) {
    if (candidate.text == text) return candidate.isa;
  }
  throw ParseError(fmt::format("'{}' is not an instruction set: ref, avx2 or avx512", text));
}

Isa best_isa() {
  static const Isa best = detect();  // CPUID traps in a virtual machine: ask once
  return best;
}

int lanes(Isa isa) { return row(isa).lanes; }

}  // namespace loopbrick
