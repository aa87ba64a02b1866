#pragma once
#include <filesystem>

#include "results/store.h"

namespace loopbrick {

/// What is in the file, of any schema that this program knows: fact and value, one row each.
///
/// Errors  throws BadDatabase for a file that is not ours or of a newer loopbrick.
Table describe_database(const std::filesystem::path& file);

}  // namespace loopbrick
