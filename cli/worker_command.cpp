#include <memory>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "trials/bench.h"

namespace loopbrick {

void add_worker_command(CommandLine& line) {
  auto socket = std::make_shared<int>(-1);
  Command command = line.add_command("worker", "Serve the trials of another loopbrick");
  command.hide();
  command.add({.name = "socket", .help = "A file descriptor", .is_required = true}, *socket,
              {0, 1 << 20});
  command.runs([socket] { return static_cast<ExitCode>(worker_main(*socket)); });
}

}  // namespace loopbrick
