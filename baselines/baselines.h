#pragma once
#include <span>
#include <string>
#include <string_view>

#include "problems/implementation.h"

namespace loopbrick {

/// The rivals that this build has: oneDNN, Eigen, im2col with OpenBLAS, loops of small GEMMs.
///
/// The first call opens loopbrick_baselines.so (beside the program, else ../lib/loopbrick), since
/// the libraries behind it take longer to load than `--help` may take in all. Empty if it cannot be
/// opened: baselines_problem() says why.
/// Threads  may be called at once.
std::span<const Implementation> baselines();

/// One sentence, empty if nothing is wrong.
std::string_view baselines_problem();

/// A rival that this build lacks, and the package that was missing when it was configured.
struct MissingBaseline {
  std::string_view name;
  std::string_view package;
};

/// Opens nothing.
std::span<const MissingBaseline> missing_baselines();

}  // namespace loopbrick
