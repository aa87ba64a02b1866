#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/database_option.h"
#include "cli/output_options.h"
#include "kernels/text.h"
#include "measure/machine.h"
#include "problems/text_file.h"
#include "tuner/stored_wisdom.h"

namespace loopbrick {
namespace {

struct ImportRequest {
  std::string file;
  std::string database = kDefaultDatabase;
  OutputOptions output;
};

Wisdom read(const std::string& file) {
  const std::string text = read_text_file(file);
  try {
    return parse_wisdom(text);
  } catch (const ParseError& error) {
    throw ParseError("'" + file + "', " + error.what());
  }
}

Table report(const Wisdom& wisdom, const std::vector<Judgement>& judgements) {
  Table table{.columns = {"fit", "conditions", "problem", "schedule", "seconds", "machine", "why"},
              .rows = {}};
  for (std::size_t i = 0; i < wisdom.entries.size(); ++i) {
    const WisdomEntry& entry = wisdom.entries[i];
    table.rows.push_back({std::string(to_string(judgements[i].fit)), entry.conditions,
                          entry.problem, entry.schedule, number(entry.seconds), entry.machine,
                          judgements[i].why});
  }
  return table;
}

ExitCode run_import(const ImportRequest& request) {
  const Wisdom wisdom = read(request.file);
  Store store(request.database, Access::write);
  std::cerr << "database: " << request.database << '\n';
  const std::vector<Judgement> judgements = keep_wisdom(wisdom, detect_machine().id, store);
  print(report(wisdom, judgements), request.output);
  const bool is_all_stale = std::all_of(judgements.begin(), judgements.end(),
                                        [](const Judgement& one) { return one.fit == Fit::stale; });
  return is_all_stale ? ExitCode::bad_result : ExitCode::fine;
}

}  // namespace

void add_import_command(CommandLine& line) {
  auto request = std::make_shared<ImportRequest>();  // lives as long as the action below
  Command command = line.add_command(
      "import", "Take schedules from a file of 'export wisdom': tune tries them first");
  command.add({.name = "file",
               .help = "Each entry is reported as exact, near or stale (not kept), and why",
               .type = "FILE",
               .is_required = true},
              request->file);
  add_database_option(command, request->database);
  add_output_options(command, request->output);
  command.examples({"import my.wisdom"});
  command.runs([request] { return run_import(*request); });
}

}  // namespace loopbrick
