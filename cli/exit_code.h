#pragma once

namespace loopbrick {

/// What the program's exit code says; docs/design.md has the same table.
enum class ExitCode {
  fine = 0,
  bad_result = 1,    ///< a check failed, a ratio is too low, a tune found nothing valid
  bad_input = 2,     ///< arguments, texts, SQL, a file that is not our database
  untrusted = 3,     ///< with --strict only
  interrupted = 4,   ///< what was measured is kept
  world_failed = 5,  ///< disk, memory, an internal error
};

}  // namespace loopbrick
