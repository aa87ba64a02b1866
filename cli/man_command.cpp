#include <fmt/format.h>
#include <iostream>
#include <string>

#include "cli/build_facts.h"
#include "cli/command_line.h"
#include "cli/commands.h"

namespace loopbrick {
namespace {

/// Plain text as roff prints it: nothing in it is a request or a hyphen that may be broken at.
std::string roff(const std::string& text) {
  std::string safe = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char letter : text) {
    safe += letter == '-' ? "\\-" : letter == '\\' ? "\\e" : std::string(1, letter);
  }
  return safe;
}

std::string argument_text(const ArgumentFacts& argument) {
  std::string text = fmt::format(".TP\n\\fB{}\\fR", roff(argument.name));
  if (!argument.type.empty()) text += fmt::format(" \\fI{}\\fR", roff(argument.type));
  text += '\n' + roff(argument.help);
  if (!argument.standard.empty()) text += fmt::format(" (default: {})", roff(argument.standard));
  return text + '\n';
}

std::string synopsis(const CommandFacts& command) {
  std::string text = fmt::format("\\fBloopbrick {}\\fR [\\fIoptions\\fR]", command.name);
  for (const ArgumentFacts& argument : command.arguments) {
    if (!argument.is_positional) continue;
    const std::string name = fmt::format("\\fI{}\\fR", argument.name);
    text += argument.is_required ? " " + name : " [" + name + "]";
  }
  return text;
}

std::string command_text(const CommandFacts& command) {
  std::string text = fmt::format(".SS {}\n{}\n.PP\n{}.\n", command.name, synopsis(command),
                                 roff(command.sentence));
  for (const ArgumentFacts& argument : command.arguments) text += argument_text(argument);
  text += ".PP\nExamples:\n.PP\n.nf\n.RS\n";
  for (const std::string& example : command.examples) text += roff(example) + '\n';
  return text + ".RE\n.fi\n";
}

constexpr const char* kEnd = R"(.SH EXIT STATUS
.TP
0
fine
.TP
1
the result is bad: a check failed, a ratio is below the one asked for, no valid schedule was found
.TP
2
usage or bad input
.TP
3
with \-\-strict: the number cannot be trusted
.TP
4
interrupted; what was measured is kept
.TP
5
the world failed: disk full, no memory, an internal error
.SH FILES
.TP
\&./loopbrick.db
the trials, unless \-\-db names another file
)";

std::string manual(const CommandLine& line) {
  std::string text = fmt::format(
      ".TH LOOPBRICK 1 \"\" \"{}\" \"User Commands\"\n"
      ".SH NAME\nloopbrick \\- loop nests around one batch\\-reduce GEMM kernel: tuned, checked "
      "and "
      "compared\n"
      ".SH SYNOPSIS\n\\fBloopbrick\\fR \\fIcommand\\fR [\\fIoptions\\fR]\n.SH COMMANDS\n",
      roff(build_facts().version));
  for (const CommandFacts& command : line.facts()) text += command_text(command);
  return text + kEnd;
}

}  // namespace

void add_man_command(CommandLine& line) {
  Command command = line.add_command("man", "The manual page, for man -l");
  command.examples({"man >loopbrick.1"});
  command.runs([&line] {
    std::cout << manual(line);
    return ExitCode::fine;
  });
}

}  // namespace loopbrick
