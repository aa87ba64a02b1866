#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "loops/wisdom.h"
#include "problems/conditions.h"
#include "problems/problem.h"

namespace loopbrick {

/// How far an entry of wisdom holds here. `exact`: measured on this machine, under these
/// conditions, with the kernels that this build generates. `near`: measured elsewhere or otherwise,
/// but it runs. `stale`: it can't be read or run any more.
enum class Fit { exact, near, stale };

std::string_view to_string(Fit fit);

struct Judgement {
  Fit fit = Fit::exact;
  std::string why;      ///< one line; empty if exact
  int differences = 0;  ///< of near: how many of machine, kernels and conditions differ
};

/// The entry for a run on `machine` under `conditions`.
Judgement judge(const WisdomEntry& entry, std::string_view machine, const Conditions& conditions);

/// The same under the entry's own conditions, as far as this CPU has their instruction set.
Judgement judge(const WisdomEntry& entry, std::string_view machine);

/// Entries of one problem that run on `machine` under `conditions`, the best fit first: exact ones,
/// then near ones by their differences; alike ones by time.
std::vector<WisdomEntry> matching(const Wisdom& wisdom, const Problem& problem,
                                  std::string_view machine, const Conditions& conditions);

/// The entry to run without measuring anything: the first that matches and was measured with this
/// many threads, since a schedule is fast with the threads that it was found for.
std::optional<WisdomEntry> advice(const Wisdom& wisdom, const Problem& problem,
                                  std::string_view machine, const Conditions& conditions);

}  // namespace loopbrick
