#pragma once
#include <filesystem>

namespace loopbrick {

/// Writes what a reviewer needs into a folder, which is made if it is not there: a copy of the
/// database, its tables as CSV, the machines, the claims (our best schedule of every problem and
/// who it was compared with, by trial), and a script that measures the claims again.
///
/// Errors  throws ParseError if the folder holds anything, BadDatabase, std::runtime_error if a
///         file can't be written.
void write_bundle(const std::filesystem::path& database, const std::filesystem::path& folder);

}  // namespace loopbrick
