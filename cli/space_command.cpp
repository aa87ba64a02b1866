#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/output_options.h"
#include "cli/what_options.h"
#include "kernels/text.h"
#include "measure/machine.h"
#include "results/store.h"
#include "tuner/problem_space.h"
#include "tuner/space.h"

namespace loopbrick {
namespace {

struct SpaceArguments {
  WhatOptions what;
  bool list = false;
  std::optional<std::string> database;
  OutputOptions output;
};

using Row = std::vector<std::optional<std::string>>;

/// Returns the number of schedules.
std::int64_t add_counts(Table& table, const NamedProblem& layer, const std::string& conditions,
                        const Space& space) {
  const Counts counts = count(space);
  const auto add = [&](const std::string& what, std::int64_t combinations) {
    table.rows.push_back(Row{layer.label, conditions, what, std::to_string(combinations)});
  };
  add("combinations", counts.raw);
  for (const Cut& cut : counts.cuts) add(std::string("cut: ") + cut.sentence, cut.combinations);
  add("schedules", counts.leaves);
  return counts.leaves;
}

/// Printed while it is walked: a space may be far larger than memory.
void list_schedules(const Space& space) {
  walk(space, [&space](const Point& point) {
    std::cout << space.text(point) << '\n';
    return std::cout.good();
  });
}

ExitCode show_space(const SpaceArguments& arguments) {
  if (arguments.list && arguments.database) throw ParseError("--db keeps counts, not a --list");
  std::optional<Store> store;
  if (arguments.database) store.emplace(*arguments.database, Access::write);
  const Machine machine = detect_machine();
  Table table{.columns = {"layer", "conditions", "what", "count"}, .rows = {}};
  for (const Work& work : expand(arguments.what)) {
    const Limits unmeasured{.threads = work.conditions.threads, .isa = work.conditions.isa};
    for (const NamedProblem& layer : work.what.problems) {
      const Space space = problem_space(layer.problem, work.conditions, machine, unmeasured);
      if (arguments.list) {
        list_schedules(space);
        continue;
      }
      const std::string conditions = to_string(work.conditions);
      const std::int64_t schedules = add_counts(table, layer, conditions, space);
      if (!store) continue;
      store->add_space({to_string(layer.problem), machine.id, conditions, schedules});
    }
  }
  if (!arguments.list) print(table, arguments.output);
  return ExitCode::fine;
}

}  // namespace

void add_space_command(CommandLine& line) {
  auto arguments = std::make_shared<SpaceArguments>();  // lives as long as the action below
  Command command =
      line.add_command("space", "How many schedules there are, and what each rule cut");
  add_what_options(command, arguments->what);
  command.add_flag("--list", "Print every schedule, one a line", arguments->list);
  command.add({"--db", "Keep the counts there, for 'query coverage'", "FILE"}, arguments->database);
  add_output_options(command, arguments->output);
  command.examples({"space mb2ic64ih56oc64oh56kh3ph1", "space gemm 64x64:64x64bs4 --list"});
  command.runs([arguments] { return show_space(*arguments); });
}

}  // namespace loopbrick
