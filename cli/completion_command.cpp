#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <string>

#include "cli/command_line.h"
#include "cli/commands.h"

namespace loopbrick {
namespace {

using Commands = std::vector<CommandFacts>;

std::string names_of(const Commands& commands) {
  std::string names;
  for (const CommandFacts& command : commands) names += " " + command.name;
  return names;
}

/// Options as they may be typed: "-h,--help" are two.
std::string options_of(const CommandFacts& command) {
  std::string options;
  for (const ArgumentFacts& argument : command.arguments) {
    if (argument.is_positional) continue;
    options += ' ';
    for (const char letter : argument.name) options += letter == ',' ? ' ' : letter;
  }
  return options;
}

std::string cases_of_options(const Commands& commands) {
  std::string cases;
  for (const CommandFacts& command : commands)
    cases += fmt::format("        {}) words='{}' ;;\n", command.name, options_of(command));
  return cases;
}

std::string cases_of_choices(const Commands& commands, bool positional) {
  std::string cases;
  for (const CommandFacts& command : commands) {
    for (const ArgumentFacts& argument : command.arguments) {
      if (argument.choices.empty() || argument.is_positional != positional) continue;
      const std::string place =
          positional ? command.name : fmt::format("'{} {}'", command.name, argument.name);
      cases += fmt::format("    {}{}) words='{}' ;;\n", positional ? "    " : "", place,
                           fmt::join(argument.choices, " "));
    }
  }
  return cases;
}

/// What no case names is left to the shell, which completes files.
constexpr const char* kScript =
    R"text(# bash completion of loopbrick: source it, or put it where your shell looks for completions
_loopbrick() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}} words=
  case "$command $previous" in
{choices}    *)
      if [ "$COMP_CWORD" -eq 1 ]; then
        words='{names}'
      elif [[ $current == -* ]]; then
        case "$command" in
{options}        esac
      elif [ "$COMP_CWORD" -eq 2 ]; then
        case "$command" in
{first}        esac
      fi ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _loopbrick loopbrick
)text";

std::string bash_completion(const Commands& commands) {
  return fmt::format(kScript, fmt::arg("choices", cases_of_choices(commands, false)),
                     fmt::arg("names", names_of(commands)),
                     fmt::arg("options", cases_of_options(commands)),
                     fmt::arg("first", cases_of_choices(commands, true)));
}

}  // namespace

void add_completion_command(CommandLine& line) {
  auto shell = std::make_shared<std::string>();  // lives as long as the action below
  Command command = line.add_command("completion", "A script that completes commands and options");
  command.add({.name = "shell", .help = "Whose script", .type = "SHELL", .is_required = true},
              *shell, {"bash"});
  command.examples({"completion bash >~/.local/share/bash-completion/completions/loopbrick"});
  command.runs([shell, &line] {
    std::cout << bash_completion(line.facts());
    return ExitCode::fine;
  });
}

}  // namespace loopbrick
