#pragma once
#include <string>

namespace loopbrick {

class Command;

inline constexpr const char* kDefaultDatabase = "loopbrick.db";

void add_database_option(Command& command, std::string& file);

}  // namespace loopbrick
