#include "baselines/doubt.h"

#include <algorithm>
#include <array>

namespace loopbrick {
namespace {

struct NamedIsa {
  std::string_view part;
  Isa isa;
};

// The first part found in the name decides, so longer names stand before those they begin with.
// Capitals are OpenBLAS's cores; those before Haswell and Zen have no FMA kernels.
constexpr std::array kNamedIsas{
    NamedIsa{"avx512", Isa::avx512},
    NamedIsa{"avx2", Isa::avx2},
    NamedIsa{"avx", Isa::ref},
    NamedIsa{"sse", Isa::ref},
    NamedIsa{"SkylakeX", Isa::avx512},
    NamedIsa{"Cooperlake", Isa::avx512},
    NamedIsa{"SapphireRapids", Isa::avx512},
    NamedIsa{"Haswell", Isa::avx2},
    NamedIsa{"Zen", Isa::avx2},
    NamedIsa{"sgemm:", Isa::ref},
};

}  // namespace

Isa wanted_isa(const Conditions& conditions) { return std::min(conditions.isa, best_isa()); }

std::optional<Isa> isa_named(std::string_view implementation) {
  const auto found =
      std::find_if(kNamedIsas.begin(), kNamedIsas.end(), [implementation](const NamedIsa& named) {
        return implementation.find(named.part) != std::string_view::npos;
      });
  if (found == kNamedIsas.end()) return std::nullopt;
  return found->isa;
}

std::string doubt(std::string_view implementation, Isa wanted) {
  if (implementation.starts_with("ref")) return "ref";
  const std::optional<Isa> isa = isa_named(implementation);
  if (!isa || *isa == wanted) return {};
  const std::string has = *isa == Isa::ref ? "less than avx2" : std::string(to_string(*isa));
  const std::string side = *isa < wanted ? "below" : "above";
  return has + ", " + side + " the " + std::string(to_string(wanted)) + " wanted";
}

}  // namespace loopbrick
