#pragma once
#include <string>

namespace CLI {
class App;
}

namespace loopbrick {

/// What the program's exit code says; docs/design.md has the same table.
enum class ExitCode {
  fine = 0,
  bad_result = 1,    ///< a check failed, a ratio is too low, a tune found nothing valid
  bad_input = 2,     ///< arguments, texts, SQL, a file that is not our database
  untrusted = 3,     ///< with --strict only
  interrupted = 4,   ///< what was measured is kept
  world_failed = 5,  ///< disk, memory, an internal error
};

/// What a command knows of how it was started, and where it leaves its exit code.
struct Invocation {
  std::string command_line;  ///< as typed, quoted for a shell
  ExitCode exit = ExitCode::fine;
};

/// Each adds one subcommand to `app`. When it is the one that was typed, it runs.
void add_machine_command(CLI::App& app, Invocation& invocation);
void add_suites_command(CLI::App& app, Invocation& invocation);
void add_space_command(CLI::App& app, Invocation& invocation);
void add_check_command(CLI::App& app, Invocation& invocation);
void add_tune_command(CLI::App& app, Invocation& invocation);
void add_compare_command(CLI::App& app, Invocation& invocation);
void add_run_command(CLI::App& app, Invocation& invocation);
void add_explain_command(CLI::App& app, Invocation& invocation);
void add_query_command(CLI::App& app, Invocation& invocation);
void add_replay_command(CLI::App& app, Invocation& invocation);
void add_worker_command(CLI::App& app, Invocation& invocation);  ///< hidden: trials/ starts it

}  // namespace loopbrick
