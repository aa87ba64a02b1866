#include <iostream>
#include <memory>
#include <string>

#include "cli/bundle.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/database_option.h"
#include "cli/output_options.h"
#include "kernels/text.h"
#include "measure/machine.h"
#include "tuner/stored_wisdom.h"

namespace loopbrick {
namespace {

struct ExportRequest {
  std::string what;
  std::string folder;
  std::string machine = "all";
  std::string database = kDefaultDatabase;
};

/// The machine's key to filter by; empty: all machines.
std::string machine_filter(const ExportRequest& request) {
  if (request.machine == "all") return "";
  return request.machine == "this" ? detect_machine().id : request.machine;
}

Table trials(const Store& store, const std::string& machine) {
  return store.query("SELECT * FROM trial WHERE :machine IS NULL OR machine = :machine ORDER BY id",
                     {machine});
}

void check_folder(const ExportRequest& request) {
  const bool is_bundle = request.what == "bundle";
  if (is_bundle && request.folder.empty())
    throw ParseError("export bundle DIR: the folder to write is missing");
  if (!is_bundle && !request.folder.empty())
    throw ParseError("export " + request.what + " writes to the standard output: '" +
                     request.folder + "' is too much");
  if (is_bundle && request.machine != "all")
    throw ParseError("a bundle holds the whole database: --machine does not go with it");
}

ExitCode run_export(const ExportRequest& request) {
  check_folder(request);
  if (request.what == "bundle") {
    write_bundle(request.database, request.folder);
    return ExitCode::fine;
  }
  const Store store(request.database, Access::read);
  const std::string machine = machine_filter(request);
  if (request.what == "wisdom") {
    std::cout << to_string(confirmed_wisdom(store, machine));
  } else {
    print(trials(store, machine), {.format = request.what});
  }
  return ExitCode::fine;
}

}  // namespace

void add_export_command(CommandLine& line) {
  auto request = std::make_shared<ExportRequest>();  // lives as long as the action below
  Command command = line.add_command(
      "export",
      "The best schedules as text for 'import' and the library; every trial; a reviewer's bundle");
  command.add({.name = "what",
               .help = "wisdom: the best confirmed schedules; csv, json: all trials; bundle: a"
                       " folder with all that a reviewer needs to check the claims",
               .type = "WHAT",
               .is_required = true},
              request->what, {"wisdom", "csv", "json", "bundle"});
  command.add({"folder", "With bundle: the folder to make", "DIR"}, request->folder);
  command.add({"--machine", "Of this machine, all, or a machine's id", "ID"}, request->machine);
  add_database_option(command, request->database);
  command.examples({"export wisdom --machine this >my.wisdom", "export csv >trials.csv",
                    "export bundle for-the-reviewer"});
  command.runs([request] { return run_export(*request); });
}

}  // namespace loopbrick
