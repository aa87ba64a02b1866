#pragma once
#include <string>

namespace CLI {
class App;
}

namespace loopbrick {

inline constexpr const char* kDefaultDatabase = "loopbrick.db";

void add_database_option(CLI::App& command, std::string& file);

}  // namespace loopbrick
