#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/database_option.h"
#include "cli/explanation.h"
#include "cli/measuring_run.h"
#include "cli/what_options.h"
#include "kernels/text.h"
#include "loops/plan.h"
#include "measure/probes.h"
#include "results/store.h"
#include "tuner/problem_space.h"
#include "tuner/strategy.h"

namespace loopbrick {
namespace {

struct ExplainArguments {
  WhatOptions what;
  std::string schedule;
  bool is_asm = false;
  bool no_lock = false;
  std::string database = kDefaultDatabase;
};

/// The fastest confirmed trial of ours, if there is a database and one in it.
std::optional<TrialRecord> best_trial(const std::string& file, const OneProblem& one,
                                      const Machine& machine) {
  if (!std::filesystem::exists(file)) return std::nullopt;
  return Store(file, Access::read)
      .best({.problem = to_string(one.named.problem),
             .implementation = std::string(kLoopbrick.name),
             .machine = machine.id,
             .conditions = to_string(one.conditions),
             .build = ""});
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

Subject model_choice(const OneProblem& one, const Machine& machine, const Limits& limits) {
  const Space space = problem_space(one.named.problem, one.conditions, machine, limits);
  const auto ask = begin_model_led(space, 1)({});
  if (!ask) throw ParseError("no schedule of the space can run " + to_string(one.named.problem));
  return {parse_schedule(space.text(ask->point)), "the model's first choice, not measured"};
}

Subject find_subject(const ExplainArguments& arguments, const OneProblem& one,
                     const std::optional<TrialRecord>& best, const Machine& machine,
                     const Limits& limits) {
  if (!arguments.schedule.empty()) return {parse_schedule(arguments.schedule), "as given"};
  if (best) return {parse_schedule(best->choice), fmt::format("trial {}, the best here", best->id)};
  return model_choice(one, machine, limits);
}

void say_measured(const std::optional<TrialRecord>& best, double counted) {
  if (!best) {
    std::cout << "measured     nothing in the database under these conditions\n";
    return;
  }
  const Measured& seen = best->confirmed;
  std::cout << fmt::format(
      "measured     {:.4g} s [{:.4g}, {:.4g}], {:.1f} GFLOP/s: the best here, trial {}, {}\n",
      seen.median, seen.lo, seen.hi, counted / seen.median * 1e-9, best->id, best->choice);
}

ExitCode explain(const ExplainArguments& arguments) {
  const OneProblem one = expand_one(arguments.what);
  require_loops(one.named.problem);
  const Machine machine = detect_machine();
  const auto best = best_trial(arguments.database, one, machine);
  const Limits limits = measured_limits(arguments, machine, one.conditions);
  const Subject subject = find_subject(arguments, one, best, machine, limits);
  const ExplainedRun run{
      .problem = one.named.problem, .schedule = subject.schedule, .conditions = one.conditions};
  const std::string text = explanation(run, machine, limits);
  std::cout << fmt::format("problem      {}\nconditions   {}\nschedule     {}  ({})\n",
                           to_string(run.problem), to_string(run.conditions),
                           to_string(run.schedule), subject.origin)
            << text;
  say_measured(best, flops(run.problem));
  if (arguments.is_asm) std::cout << kernel_listings(run);
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
