#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "cli/build_facts.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/database_option.h"
#include "cli/explanation.h"
#include "cli/measuring_run.h"
#include "cli/what_options.h"
#include "kernels/text.h"
#include "loops/schedule.h"
#include "measure/probes.h"
#include "results/store.h"
#include "tuner/known_schedule.h"
#include "tuner/stored_wisdom.h"

namespace loopbrick {
namespace {

struct ExplainArguments {
  WhatOptions what;
  std::optional<std::string> schedule;
  bool is_asm = false;
  bool no_lock = false;
  std::string database = kDefaultDatabase;
};

/// What the database has of the problem.
struct Stored {
  std::optional<TrialRecord> best;
  std::optional<WisdomEntry> imported;
};

/// Nothing if there is no database.
Stored stored(const std::string& file, const TrialContext& context) {
  if (!std::filesystem::exists(file)) return {};
  const Store store(file, Access::read);
  return {.best = best_known(context, store), .imported = imported_choice(context, store)};
}

Limits measured_limits(const ExplainArguments& arguments, const Machine& machine,
                       const Conditions& conditions) {
  const auto lock = take_lock(arguments.no_lock);
  return measure_limits(machine, conditions.threads, conditions.isa);
}

/// The schedule to explain, and where it comes from.
struct Subject {
  Schedule schedule;
  std::string origin;
};

Subject model_choice(const TrialContext& context) {
  const auto choice = first_choice(context, 1);
  if (!choice) {
    throw ParseError("no schedule of the space can run " + to_string(context.problem));
  }
  return {parse_schedule(*choice), "the model's first choice, not measured"};
}

Subject find_subject(const std::optional<std::string>& given, const Stored& known,
                     const TrialContext& context) {
  if (given) return {parse_schedule(*given), "as given"};
  if (const auto& best = known.best)
    return {parse_schedule(best->choice), fmt::format("trial {}, the best here", best->id)};
  if (const auto& imported = known.imported)
    return {parse_schedule(imported->schedule), "imported, found on " + imported->machine};
  return model_choice(context);
}

void say_measured(const std::optional<TrialRecord>& best, double counted) {
  if (!best) {
    std::cout << "measured     nothing in the database that runs under these conditions\n";
    return;
  }
  const bool is_confirmed = best->confirmed.n > 0;
  const Measured& seen = is_confirmed ? best->confirmed : best->search;
  std::cout << fmt::format(
      "measured     {:.4g} s [{:.4g}, {:.4g}], {:.1f} GFLOP/s{}: the best here, trial {}, {}\n",
      seen.median, seen.lo, seen.hi, counted / seen.median * 1e-9,
      is_confirmed ? "" : " (measured in a search, not confirmed)", best->id, best->choice);
}

ExitCode explain(const ExplainArguments& arguments) {
  const OneProblem one = expand_one(arguments.what);
  if (arguments.is_asm && one.conditions.isa == Isa::ref) {
    throw ParseError("--asm: the kernels of --isa ref are not generated, there is no list of them");
  }
  require_loops(one.named.problem);
  TrialContext context{.problem = one.named.problem,
                       .conditions = one.conditions,
                       .station = {.machine = detect_machine(), .build = build_facts().id}};
  const Stored known = stored(arguments.database, context);
  Station& station = context.station;
  station.limits = measured_limits(arguments, station.machine, one.conditions);
  const Subject subject = find_subject(arguments.schedule, known, context);
  const ExplainedRun run{
      .problem = one.named.problem, .schedule = subject.schedule, .conditions = one.conditions};
  const std::string text = explanation(run, station.machine, station.limits);
  const std::string listings = arguments.is_asm ? kernel_listings(run) : "";
  std::cout << fmt::format("problem      {}\nconditions   {}\nschedule     {}  ({})\n",
                           to_string(run.problem), to_string(run.conditions),
                           to_string(run.schedule), subject.origin)
            << text;
  say_measured(known.best, flops(run.problem));
  std::cout << listings;
  return ExitCode::fine;
}

}  // namespace

void add_explain_command(CommandLine& line) {
  auto arguments = std::make_shared<ExplainArguments>();  // lives as long as the action below
  Command command = line.add_command(
      "explain", "What a schedule does, costs by the model, and was measured to cost");
  add_what_options(command, arguments->what);
  command.add({"--schedule", "Instead of the best one known", "SCHEDULE"}, arguments->schedule);
  command.add_flag("--asm", "The kernels' instructions, too", arguments->is_asm);
  command.add_flag("--no-lock", "Do not wait for other measurements", arguments->no_lock);
  add_database_option(command, arguments->database);
  command.examples(
      {"explain --suite resnet50:4 --dir fwd",
       "explain mb1ic64ih56oc64oh56kh3ph1 --schedule 'N k64 p q14 @ c64 * c r s' --asm"});
  command.runs([arguments] { return explain(*arguments); });
}

}  // namespace loopbrick
