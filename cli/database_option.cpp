#include "cli/database_option.h"

#include "cli/command_line.h"

namespace loopbrick {

namespace {

Argument database() {
  return {.name = "--db",
          .help = "The SQLite file that keeps every trial",
          .type = "FILE",
          .standard = kDefaultDatabase};
}

}  // namespace

void add_database_option(Command& command, std::string& file) { command.add(database(), file); }

void add_database_option(Command& command, std::optional<std::string>& file) {
  command.add(database(), file);
}

}  // namespace loopbrick
