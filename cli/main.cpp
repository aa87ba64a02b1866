#include <CLI/CLI.hpp>

#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <string_view>

#include "cli/build_facts.h"
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

std::string quoted(std::string_view argument) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+:,./@";
  if (!argument.empty() && argument.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(argument);
  }
  std::string text = "'";
  for (const char letter : argument) {
    text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  }
  return text + "'";
}

std::string command_line(int argc, char** argv) {
  std::string text = "loopbrick";
  for (int i = 1; i < argc; ++i) text += " " + quoted(argv[i]);
  return text;
}

/// One line, whatever the message holds.
ExitCode report(ExitCode code, std::string message) {
  for (char& letter : message) {
    if (letter == '\n') letter = ' ';
  }
  std::cerr << "loopbrick: " << message << '\n';
  return code;
}

/// CLI11 only says that there is no subcommand.
void check_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::string names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == argv[1]) return;
    if (!command->get_group().empty()) names += " " + command->get_name();
  }
  throw ParseError("'" + std::string(argv[1]) + "' is not a command; there are" + names);
}

ExitCode run(int argc, char** argv) {
  CLI::App app("Loop nests around one batch-reduce GEMM kernel: tuned, checked and compared",
               "loopbrick");
  Invocation invocation{.command_line = command_line(argc, argv)};
  app.require_subcommand(1);
  app.set_version_flag("--version", version_line, "Version, commit, compiler and kind of build");
  app.footer("Example:\n  loopbrick tune --suite resnet50 --dir fwd --budget 60s");
  for (const auto add : kCommands) add(app, invocation);
  try {
    check_command(app, argc, argv);
    app.parse(argc, argv);
    return invocation.exit;
  } catch (const CLI::Success& success) {
    app.exit(success);  // prints help or version
    return ExitCode::fine;
  } catch (const CLI::ParseError& error) {
    return report(ExitCode::bad_input, std::string(error.what()) + " (see --help)");
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
  std::signal(SIGXFSZ,
              SIG_IGN);  // a file-size limit is a full disk: an error of write, not the end
  return static_cast<int>(loopbrick::run(argc, argv));
}
