#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "problems/problem.h"

namespace loopbrick {

/// One problem of a batch file, or why it cannot be run.
struct BatchEntry {
  std::string name;  ///< from n"name", else "FILE:LINE"
  std::int64_t multiplicity = 1;
  std::variant<Problem, std::string> problem;  ///< or one sentence
};

/// What a command line says about batch files; it wins over the files' own options, as benchdnn's
/// --mb does.
struct BatchOptions {
  ProblemDefaults defaults;
  std::vector<Pass> passes;               ///< replace --dir; empty: the files' own
  std::vector<DType> types;               ///< replace --dt
  std::vector<std::int64_t> minibatches;  ///< replace --mb and every mb
};

/// The problems of a benchdnn batch file, in its order.
///
/// Text    one shape a line, options (--dir=FWD_D,BWD_W --mb=0,2 --dt=f32 --bs=4 ...) for the
/// shapes behind them, lists
///         as cross products, --reset, --batch=FILE (beside this file), # comments.
/// LSTMs   a stack l and two directions (concat, sum) are their layers with multiplicities; joining
///         their results is nobody's work.
/// Errors  throws ParseError "FILE:LINE: ..." for a file that cannot be read, an option that is not
/// benchdnn's, a shape
///         that is malformed. What is well formed but beyond us (3-D, other types, unknown
///         post-ops) is an entry with the reason.
std::vector<BatchEntry> load_batch(const std::filesystem::path& file, const BatchOptions& options);

/// The same from a text; --batch=FILE is looked up in `folder`.
std::vector<BatchEntry> parse_batch(std::string_view name, std::string_view text,
                                    const std::filesystem::path& folder,
                                    const BatchOptions& options);

}  // namespace loopbrick
