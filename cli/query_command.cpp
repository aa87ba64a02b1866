#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/database_option.h"
#include "cli/output_options.h"
#include "kernels/text.h"
#include "measure/machine.h"
#include "problems/problem.h"
#include "results/store.h"

namespace loopbrick {
namespace {

struct QueryRequest {
  std::string name;
  std::optional<std::string> sql;
  std::string machine = "this";
  std::optional<std::string> problem;
  std::string database = kDefaultDatabase;
  OutputOptions output;
};

Table list_of_queries() {
  Table table{.columns = {"query", "answers"}, .rows = {}};
  for (const SavedQuery& query : saved_queries()) {
    table.rows.push_back({std::string(query.name), std::string(query.sentence)});
  }
  return table;
}

const SavedQuery& find_query(const std::string& name) {
  std::string names;
  for (const SavedQuery& query : saved_queries()) {
    if (query.name == name) return query;
    names += (names.empty() ? "" : ", ") + std::string(query.name);
  }
  throw ParseError(fmt::format("'{}' is not a query; there are {}", name, names));
}

/// The machine's key to filter by; empty: all machines.
std::string machine_filter(const QueryRequest& request) {
  if (request.machine == "all") return "";
  return request.machine == "this" ? detect_machine().id : request.machine;
}

Table saved(const QueryRequest& request) {
  const SavedQuery& query = find_query(request.name);
  const std::string problem = request.problem ? to_string(parse_problem(*request.problem)) : "";
  const Store store(request.database, Access::read);
  const std::string machine = machine_filter(request);
  Table table = store.query(std::string(query.sql), {machine, problem});
  if (table.rows.empty() && !machine.empty()) {
    std::cerr << "no rows of machine '" << machine << "'; --machine all shows every machine's\n";
  }
  return table;
}

ExitCode query(const QueryRequest& request) {
  if (!request.name.empty() && request.sql) {
    throw ParseError("give the name of a query or --sql, not both");
  }
  if (request.sql) {
    print(Store(request.database, Access::read).query(*request.sql), request.output);
  } else {
    print(request.name.empty() ? list_of_queries() : saved(request), request.output);
  }
  return ExitCode::fine;
}

}  // namespace

void add_query_command(CommandLine& line) {
  auto request = std::make_shared<QueryRequest>();  // lives as long as the action below
  Command command = line.add_command("query", "Ask the database; without a name, list what");
  command.add({"name", "A saved query", "NAME"}, request->name);
  command.add({"--sql", "One statement of your own that reads", "SQL"}, request->sql);
  command.add({"--machine", "Rows of this machine, all, or a machine's id", "ID"},
              request->machine);
  command.add({"--problem", "Rows of one problem", "PROBLEM"}, request->problem);
  add_database_option(command, request->database);
  add_output_options(command, request->output);
  command.examples({"query best", "query speedup --format md",
                    "query --sql \"SELECT outcome, count(*) FROM trial GROUP BY outcome\""});
  command.runs([request] { return query(*request); });
}

}  // namespace loopbrick
