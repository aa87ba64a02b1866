#include "cli/database_option.h"

#include "cli/command_line.h"

namespace loopbrick {

void add_database_option(Command& command, std::string& file) {
  command.add({"--db", "The SQLite file that keeps every trial", "FILE"}, file);
}

}  // namespace loopbrick
