#include "cli/database_option.h"

#include <CLI/CLI.hpp>

namespace loopbrick {

void add_database_option(CLI::App& command, std::string& file) {
  command.add_option("--db", file, "The SQLite file that keeps every trial")
      ->type_name("FILE")
      ->capture_default_str();
}

}  // namespace loopbrick
