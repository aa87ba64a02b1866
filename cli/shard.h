#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "problems/what.h"

namespace loopbrick {

/// One of `of` parts of a suite, counted from 1, tuned by as many runs of the program at once.
///
/// Text  "2/4".
struct Shard {
  int number = 1;
  int of = 1;

  friend bool operator==(const Shard&, const Shard&) = default;
};

/// A variable of the environment; nothing if it is not set.
using Variable = std::function<std::optional<std::string>(const char* name)>;
std::optional<std::string> environment_variable(const char* name);

/// "2/4", or "auto": the place that a launcher gave to this process. Open MPI and PMI number the
/// processes of a run, Slurm the tasks of a step and the jobs of an array; of an array whose jobs
/// have several processes each, every process gets a part of its own.
///
/// Errors  throws ParseError that shows the text or the variable, or names the launchers that there
///         was none of.
Shard parse_shard(std::string_view text, const Variable& variable = environment_variable);

/// The problems of this part: all shares have about the same work, FLOPs times multiplicity.
/// Largest first, each goes to the part that has least; the same input gives the same parts
/// everywhere.
What part_of(const What& what, const Shard& shard);

/// "loopbrick-2of4.db" of "loopbrick.db": a file of its own for each part.
std::string part_name(const std::string& file, const Shard& shard);

}  // namespace loopbrick
