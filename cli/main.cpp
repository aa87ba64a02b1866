#include <cerrno>
#include <csignal>
#include <exception>
#include <fcntl.h>
#include <iostream>
#include <new>
#include <string>
#include <unistd.h>

#include "cli/build_facts.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "kernels/text.h"
#include "results/store.h"
#include "trials/bench.h"

namespace loopbrick {
namespace {

constexpr auto kCommands = {
    add_machine_command,    add_suites_command,  add_space_command,  add_check_command,
    add_tune_command,       add_compare_command, add_run_command,    add_explain_command,
    add_query_command,      add_db_command,      add_replay_command, add_table_command,
    add_rehearse_command,   add_export_command,  add_import_command, add_man_command,
    add_completion_command, add_worker_command,
};

/// One line, whatever the message holds.
ExitCode report(ExitCode code, std::string message) {
  for (char& letter : message) {
    if (letter == '\n') letter = ' ';
  }
  std::cerr << "loopbrick: " << message << '\n';
  return code;
}

/// A result that nobody could read is no success.
ExitCode written(ExitCode code) {
  std::cout.flush();
  if (std::cout) return code;
  return report(ExitCode::world_failed, "cannot write to the standard output");
}

/// Else a database or a socket would get the number of a standard stream that the caller closed. A
/// stream in its place can be read only, or written only: its use is the error that it was.
void fill_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // the lowest number is free
  }
}

ExitCode run(int argc, char** argv) {
  try {
    CommandLine line(version_line(), {argv + 1, argv + argc});
    for (const auto add : kCommands) add(line);
    line.examples({"tune --suite resnet50 --dir fwd --budget 60s"});
    return written(line.run());
  } catch (const ParseError& error) {
    return report(ExitCode::bad_input, error.what());
  } catch (const BadDatabase& error) {
    return report(ExitCode::bad_input, error.what());
  } catch (const Interrupted& error) {
    return report(ExitCode::interrupted, error.what());
  } catch (const Stopped& error) {
    return report(ExitCode::interrupted, error.what());
  } catch (const NoMemory& error) {
    return report(ExitCode::world_failed, error.what());
  } catch (const std::bad_alloc&) {
    return report(ExitCode::world_failed, "there is not enough memory for this");
  } catch (const std::exception& error) {
    return report(ExitCode::world_failed, error.what());
  }
}

}  // namespace
}  // namespace loopbrick

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file-size limit is a full disk: an error of write
  loopbrick::fill_closed_streams();
  return static_cast<int>(loopbrick::run(argc, argv));
}
