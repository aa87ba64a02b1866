#pragma once
#include <optional>
#include <string>

namespace loopbrick {

class Command;

inline constexpr const char* kDefaultDatabase = "loopbrick.db";

void add_database_option(Command& command, std::string& file);

/// The same where it matters whether it was given.
void add_database_option(Command& command, std::optional<std::string>& file);

}  // namespace loopbrick
