#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <string>

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
    add_machine_command, add_suites_command,  add_space_command,  add_check_command,
    add_tune_command,    add_compare_command, add_run_command,    add_explain_command,
    add_query_command,   add_replay_command,  add_worker_command,
};

/// One line, whatever the message holds.
ExitCode report(ExitCode code, std::string message) {
  for (char& letter : message) {
    if (letter == '\n') letter = ' ';
  }
  std::cerr << "loopbrick: " << message << '\n';
  return code;
}

ExitCode run(int argc, char** argv) {
  try {
    CommandLine line(version_line(), {argv + 1, argv + argc});
    for (const auto add : kCommands) add(line);
    line.examples({"tune --suite resnet50 --dir fwd --budget 60s"});
    return line.run();
  } catch (const ParseError& error) {
    return report(ExitCode::bad_input, error.what());
  } catch (const BadDatabase& error) {
    return report(ExitCode::bad_input, error.what());
  } catch (const Interrupted& error) {
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
  return static_cast<int>(loopbrick::run(argc, argv));
}
