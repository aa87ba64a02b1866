#include <CLI/CLI.hpp>

#include <csignal>
#include <memory>

#include "cli/commands.h"
#include "trials/bench.h"

namespace loopbrick {

void add_worker_command(CLI::App& app, Invocation& invocation) {
  auto socket = std::make_shared<int>(-1);
  CLI::App* command = app.add_subcommand("worker", "Serve the trials of another loopbrick");
  command->group("");  // hidden
  command->add_option("socket", *socket)->required();
  command->callback([socket, &invocation] {
    // Ctrl-C reaches the whole process group; the program that asks decides when the worker ends.
    std::signal(SIGINT, SIG_IGN);
    invocation.exit = static_cast<ExitCode>(worker_main(*socket));
  });
}

}  // namespace loopbrick
