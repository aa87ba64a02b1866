#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_facts.h"
#include "cli/exit_code.h"

namespace CLI {
class App;
}

namespace loopbrick {

/// One argument as --help shows it.
struct Argument {
  std::string name;  ///< "--seed"; without dashes a positional one
  std::string help;
  std::string type = {};      ///< "FILE", "N"
  std::string standard = {};  ///< what holds where it is not given; empty: the variable's value
  bool is_required = false;
};

/// What a number may be, both ends included.
struct Bounds {
  double least = 0.0;
  double most = 0.0;
};

/// What arguments take that take nothing else, by command and argument: "tune --format".
using ChoicesByArgument = std::map<std::string, std::vector<std::string>>;

/// The arguments of one subcommand. The variables must live until CommandLine::run has returned.
class Command {
 public:
  Command(CLI::App& app, ExitCode& exit, ChoicesByArgument& choices)
      : app_(app), exit_(exit), choices_(choices) {}

  void add(const Argument& argument, std::string& value);
  void add(const Argument& argument, std::string& value, const std::vector<std::string>& choices);
  void add(const Argument& argument, std::optional<std::string>& value);  ///< "" is given, too
  void add(const Argument& argument, std::vector<std::string>& values);   ///< once or more often
  void add(const Argument& argument, int& value, Bounds bounds);
  void add(const Argument& argument, std::int64_t& value, Bounds bounds);
  void add(const Argument& argument, std::uint64_t& value);
  void add(const Argument& argument, double& value, Bounds bounds);
  void add_flag(const std::string& name, const std::string& help, bool& value);

  void examples(const std::vector<std::string>& lines);
  void hide();

  /// What it does when it is the one that was typed.
  void runs(std::function<ExitCode()> action);

 private:
  CLI::App& app_;
  ExitCode& exit_;
  ChoicesByArgument& choices_;
};

/// The program's arguments: one Command each, and what was typed.
///
/// CLI11 stands behind it, in one file since every file that includes it takes long to compile.
class CommandLine {
 public:
  CommandLine(std::string version, std::vector<std::string> arguments);
  ~CommandLine();

  Command add_command(const std::string& name, const std::string& sentence);
  void examples(const std::vector<std::string>& lines);

  /// What every command takes, but for hidden ones: for the manual and the shell's completion.
  std::vector<CommandFacts> facts() const;

  /// As typed, quoted for a shell.
  std::string text() const;

  /// Runs the command that was typed, or prints the help or version that was asked for.
  ///
  /// Errors  throws ParseError for arguments that are none of ours, and what the command throws.
  ExitCode run();

 private:
  void check_name() const;

  std::vector<std::string> arguments_;
  std::unique_ptr<CLI::App> app_;
  ExitCode exit_ = ExitCode::fine;
  ChoicesByArgument choices_;
};

}  // namespace loopbrick
