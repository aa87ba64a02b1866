#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/measuring_run.h"
#include "cli/output_file.h"
#include "cli/output_options.h"
#include "cli/replay_program.h"
#include "cli/round_options.h"
#include "cli/take_trial.h"
#include "kernels/text.h"
#include "problems/conditions.h"
#include "problems/problem.h"

namespace loopbrick {
namespace {

struct ReplayArguments {
  std::int64_t id = 0;
  std::optional<std::string> emit_cpp;  ///< file to write; nothing: the trial is run
  RoundOptions rounds;
  MeasuringOptions measuring;
  OutputOptions output;
};

TrialRecord stored_trial(const ReplayArguments& arguments) {
  const Store store(database_of(arguments.measuring), Access::read);
  const auto trial = store.trial(arguments.id);
  if (!trial) {
    throw ParseError(
        fmt::format("{} has no trial {}", database_of(arguments.measuring), arguments.id));
  }
  return *trial;
}

ExitCode emit(const TrialRecord& trial, const std::string& file) {
  const std::string program = replay_program(trial);
  check_output_file("--emit-cpp", file);
  write_whole(file, program);
  std::cerr << file << " says how it is built and run\n";
  return ExitCode::fine;
}

/// Confirmed if it was, else what the search saw.
const Measured& value_of(const TrialRecord& trial) {
  return trial.confirmed.n > 0 ? trial.confirmed : trial.search;
}

std::optional<std::string> cell(const Measured& seen, double value) {
  return seen.n > 0 ? std::optional(number(value)) : std::nullopt;
}

Table two_rows(const TrialRecord& stored, const TrialRecord& fresh) {
  Table table{
      .columns = {"which", "outcome", "median_s", "lo_s", "hi_s", "ratio", "trial", "problem",
                  "implementation", "choice", "conditions", "machine", "build", "reason"},
      .rows = {}};
  const Measured& old = value_of(stored);
  for (const TrialRecord* trial : {&stored, &fresh}) {
    const Measured& seen = value_of(*trial);
    const bool has_ratio = old.n > 0 && seen.n > 0;
    table.rows.push_back(
        {trial == &stored ? "stored" : "replayed", trial->outcome, cell(seen, seen.median),
         cell(seen, seen.lo), cell(seen, seen.hi),
         has_ratio ? std::optional(number(seen.median / old.median)) : std::nullopt,
         std::to_string(trial->id), trial->problem, trial->implementation, trial->choice,
         trial->conditions, trial->machine, trial->build, trial->reason});
  }
  return table;
}

/// Do the two intervals meet, give or take the noise of hours apart?
bool agrees(const TrialRecord& stored, const TrialRecord& fresh, double noise_floor) {
  const Measured& old = value_of(stored);
  const Measured& seen = value_of(fresh);
  if (stored.outcome != fresh.outcome) return false;
  if (old.n == 0 || seen.n == 0) return true;
  const double slack = std::max(0.01, noise_floor);
  return seen.lo <= old.hi * (1.0 + slack) && seen.hi >= old.lo * (1.0 - slack);
}

ExitCode replay(const ReplayArguments& arguments, const std::string& command_line) {
  const TrialRecord stored = stored_trial(arguments);
  if (arguments.emit_cpp) return emit(stored, *arguments.emit_cpp);
  TrialContext context{.problem = parse_problem(stored.problem),
                       .conditions = parse_conditions(stored.conditions),
                       .station = {}};
  const Arm arm{.implementation = stored.implementation, .choice = stored.choice};
  if (context.conditions.isa > best_isa()) {
    throw ParseError(fmt::format("trial {} ran with {}; this CPU runs at most {}", stored.id,
                                 to_string(context.conditions.isa), to_string(best_isa())));
  }
  const RoundPlan plan = plan_of(arguments.rounds, arguments.measuring.bench.seed);
  MeasuringRun run(arguments.measuring,
                   {.command = command_line, .strategy = "replay", .budget = ""});
  context.station = run.begin({.conditions = context.conditions, .what = {}});
  if (stored.machine != context.station.machine.id) {
    std::cerr << "warning: trial " << stored.id << " ran on another machine: " << stored.machine
              << '\n';
  }
  auto fresh = take_trial(context, arm, plan, arguments.measuring.bench);
  if (!fresh) return run.end(ExitCode::interrupted);
  fresh->id = run.store().add_trial(*fresh);
  print(two_rows(stored, *fresh), arguments.output);
  const ExitCode exit = run.end(ExitCode::fine);
  const bool agreed = agrees(stored, *fresh, context.station.limits.noise_floor);
  if (!agreed) std::cerr << "the replayed value does not agree with the stored one\n";
  return exit == ExitCode::fine && arguments.measuring.strict && !agreed ? ExitCode::untrusted
                                                                         : exit;
}

}  // namespace

void add_replay_command(CommandLine& line) {
  auto arguments = std::make_shared<ReplayArguments>();  // lives as long as the action below
  Command command = line.add_command("replay", "Repeat a stored trial in fresh processes");
  command.add({.name = "id", .help = "The trial's number", .type = "TRIAL", .is_required = true},
              arguments->id, {1, 1e15});
  command.add(
      {"--emit-cpp",
       "Run nothing: write a program that runs and times it with the installed library", "FILE"},
      arguments->emit_cpp);
  add_round_options(command, arguments->rounds);
  add_measuring_options(command, arguments->measuring);
  add_perf_map_option(command, arguments->measuring);
  add_output_options(command, arguments->output);
  command.examples({"replay 17 --strict", "replay 17 --emit-cpp trial17.cpp"});
  command.runs([arguments, &line] { return replay(*arguments, line.text()); });
}

}  // namespace loopbrick
