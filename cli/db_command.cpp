#include <fmt/format.h>
#include <memory>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/database_option.h"
#include "cli/output_options.h"
#include "kernels/text.h"
#include "results/check.h"
#include "results/description.h"
#include "results/merge.h"
#include "results/store.h"

namespace loopbrick {
namespace {

struct DbArguments {
  std::string action;
  std::string file = kDefaultDatabase;
  std::vector<std::string> from;
  OutputOptions output;
};

ExitCode info(const DbArguments& arguments) {
  print(describe_database(arguments.file), arguments.output);
  return ExitCode::fine;
}

ExitCode check(const DbArguments& arguments) {
  Table table{.columns = {"check", "faults", "example"}, .rows = {}};
  std::int64_t faults = 0;
  for (const Finding& finding : check_database(arguments.file)) {
    faults += finding.faults;
    const bool is_good = finding.faults == 0;
    table.rows.push_back({finding.check, std::to_string(finding.faults),
                          is_good ? std::nullopt : std::optional(finding.example)});
  }
  print(table, arguments.output);
  return faults == 0 ? ExitCode::fine : ExitCode::bad_result;
}

ExitCode merge_all(const DbArguments& arguments) {
  Table table{.columns = {"from", "campaigns", "trials", "renewed", "comparisons"}, .rows = {}};
  for (const std::string& from : arguments.from) {
    const Merged merged = merge(arguments.file, from);
    table.rows.push_back({from, std::to_string(merged.campaigns), std::to_string(merged.trials),
                          std::to_string(merged.renewed), std::to_string(merged.comparisons)});
  }
  print(table, arguments.output);
  return ExitCode::fine;
}

ExitCode update(const DbArguments& arguments) {
  describe_database(arguments.file);  // refuses what is not there instead of making it
  update_database(arguments.file);
  return info(arguments);
}

ExitCode act(const DbArguments& arguments) {
  const bool merges = arguments.action == "merge";
  if (merges && arguments.from.empty()) {
    throw ParseError("db merge INTO FROM...: the files to merge from are missing");
  }
  if (!merges && !arguments.from.empty()) {
    throw ParseError(fmt::format("db {} takes one file: '{}' is too much", arguments.action,
                                 arguments.from.front()));
  }
  if (merges) return merge_all(arguments);
  if (arguments.action == "check") return check(arguments);
  if (arguments.action == "update") return update(arguments);
  return info(arguments);
}

}  // namespace

void add_db_command(CommandLine& line) {
  auto arguments = std::make_shared<DbArguments>();  // lives as long as the action below
  Command command = line.add_command(
      "db", "Database files: what is in one, whether it is whole, several into one");
  command.add(
      {.name = "action",
       .help = "info: what is in it; check: is it whole and sensible (exit code 1: no);"
               " merge: add what other files have, each trial once; update: to the schema of"
               " this program",
       .type = "info|check|merge|update",
       .is_required = true},
      arguments->action, {"info", "check", "merge", "update"});
  command.add({"file", "The file; with merge the one that grows", "FILE"}, arguments->file);
  command.add({"from", "The files to merge, which stay as they are", "FROM..."}, arguments->from);
  add_output_options(command, arguments->output);
  command.examples({"db info loopbrick.db", "db check", "db merge all.db node1.db node2.db"});
  command.runs([arguments] { return act(*arguments); });
}

}  // namespace loopbrick
