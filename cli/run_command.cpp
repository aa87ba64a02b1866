#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/arm_list.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/measuring_run.h"
#include "cli/output_options.h"
#include "cli/round_options.h"
#include "cli/take_trial.h"
#include "cli/what_options.h"
#include "kernels/text.h"
#include "loops/plan.h"
#include "loops/schedule.h"

namespace loopbrick {
namespace {

struct RunArguments {
  WhatOptions what;
  std::optional<std::string> schedule;
  std::vector<std::string> impls;
  RoundOptions rounds;
  MeasuringOptions measuring;
  OutputOptions output;
};

Arm wanted_arm(const RunArguments& arguments) {
  if (arguments.schedule.has_value() != arguments.impls.empty()) {
    throw ParseError("run takes one --schedule or one --impl");
  }
  if (arguments.schedule) {
    return {.implementation = std::string(kLoopbrick.name),
            .choice = to_string(parse_schedule(*arguments.schedule))};
  }
  const std::vector<Arm> arms = parse_arms(arguments.impls);
  if (arms.size() != 1) throw ParseError("run takes one --impl; compare takes several");
  return arms.front();
}

std::optional<std::string> percent(double flops, const TrialRecord& trial) {
  if (flops <= 0 || trial.peak_flops <= 0 || trial.confirmed.n == 0) return std::nullopt;
  return number(100.0 * flops / trial.confirmed.median / trial.peak_flops);
}

Table one_row(const TrialRecord& trial) {
  const Measured& seen = trial.confirmed;
  const auto cell = [&seen](double value) {
    return seen.n > 0 ? std::optional(number(value)) : std::nullopt;
  };
  return {.columns = {"problem", "implementation", "choice", "outcome", "median_s", "lo_s", "hi_s",
                      "gflops", "pct_of_peak", "executed_pct_of_peak", "ran", "included", "flag",
                      "conditions", "trial", "reason"},
          .rows = {{trial.problem, trial.implementation, trial.choice, trial.outcome,
                    cell(seen.median), cell(seen.lo), cell(seen.hi),
                    cell(trial.flops / seen.median * 1e-9), percent(trial.flops, trial),
                    percent(trial.executed_flops, trial), trial.ran, trial.included, trial.flag,
                    trial.conditions, std::to_string(trial.id), trial.reason}}};
}

ExitCode run_one(const RunArguments& arguments, const std::string& command_line) {
  const OneProblem one = expand_one(arguments.what);
  const Arm arm = wanted_arm(arguments);
  const RoundPlan plan = plan_of(arguments.rounds, arguments.measuring.bench.seed);
  MeasuringRun run(arguments.measuring, {.command = command_line, .strategy = "run", .budget = ""});
  const Station station =
      run.begin({.conditions = one.conditions, .what = {.problems = {one.named}, .refused = {}}});
  auto trial =
      take_trial({.problem = one.named.problem, .conditions = one.conditions, .station = station},
                 arm, plan, arguments.measuring.bench);
  if (!trial) return run.end(ExitCode::interrupted);
  trial->id = run.store().add_trial(*trial);
  print(one_row(*trial), arguments.output);
  return run.end(trial->outcome == "ok" ? ExitCode::fine : ExitCode::bad_result);
}

}  // namespace

void add_run_command(CommandLine& line) {
  auto arguments = std::make_shared<RunArguments>();  // lives as long as the action below
  Command command =
      line.add_command("run", "One schedule or implementation, checked and timed in rounds");
  add_what_options(command, arguments->what);
  command.add({"--schedule", "One of our schedules", "SCHEDULE"}, arguments->schedule);
  add_impl_option(command, arguments->impls);
  add_round_options(command, arguments->rounds);
  add_measuring_options(command, arguments->measuring);
  add_perf_map_option(command, arguments->measuring);
  add_output_options(command, arguments->output);
  command.examples({"run mb1ic64ih56oc64oh56kh3ph1 --schedule 'N k64 p q14 @ c64 * c r s'",
                    "run mb1ic64ih56oc64oh56kh3ph1 --impl onednn"});
  command.runs([arguments, &line] { return run_one(*arguments, line.text()); });
}

}  // namespace loopbrick
