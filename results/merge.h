#pragma once
#include <cstdint>
#include <filesystem>

namespace loopbrick {

/// What a merge added.
struct Merged {
  std::int64_t campaigns = 0, trials = 0, comparisons = 0;
  std::int64_t renewed = 0;  ///< trials that were there already and were confirmed again since

  friend bool operator==(const Merged&, const Merged&) = default;
};

/// Adds to `into`, which is made if it is not there, what `from` has and `into` has not, in one
/// transaction; `from` is only read.
///
/// A campaign is known by its key and a trial by its number within its campaign, so a trial that
/// came on several ways is there once. Of two states of one trial the one confirmed last counts,
/// and the samples of both are kept. Machines, builds and layers that both have stay as `into` has
/// them. Merging again changes nothing, and the order of several merges does not matter but for
/// that and for the ids. A file with an older schema is merged from an updated copy.
///
/// Errors  throws BadDatabase and changes nothing if `from` is `into`, is of a newer loopbrick, is
///         damaged (results/check.h), or has another trial under the same key and number.
Merged merge(const std::filesystem::path& into, const std::filesystem::path& from);

}  // namespace loopbrick
