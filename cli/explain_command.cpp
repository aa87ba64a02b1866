#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/arm_list.h"
#include "cli/breakdown.h"
#include "cli/build_facts.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/database_option.h"
#include "cli/explanation.h"
#include "cli/measuring_run.h"
#include "cli/output_options.h"
#include "cli/side_by_side.h"
#include "cli/sides.h"
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
  std::optional<std::string> against;
  bool has_counters = false;
  bool is_asm = false;
  bool is_breakdown = false;
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

/// The shares of a run's parts, measured while nobody else measures.
std::string measured_parts(const ExplainArguments& arguments, const ExplainedRun& run) {
  if (!arguments.is_breakdown) return {};
  const auto lock = take_lock(arguments.no_lock);
  return breakdown(run);
}

bool ran_badly(const Side& side) { return side.counted && side.counted->attempt.outcome != "ok"; }

/// A is what is explained, B what it is held against, if anything; none of both if neither that nor
/// counters are asked for.
std::vector<Side> sides_of(const ExplainArguments& arguments, const TrialContext& context,
                           const Schedule& schedule, const std::optional<Arm>& other) {
  if (!other && !arguments.has_counters) return {};
  SidesRequest request{.context = context,
                       .arms = {{.implementation = kOurs, .choice = to_string(schedule)}},
                       .database = arguments.database,
                       .has_counters = arguments.has_counters,
                       .no_lock = arguments.no_lock};
  if (other) request.arms.push_back(*other);
  return find_sides(request);
}

void say_sides(const std::vector<Side>& sides) {
  if (sides.empty()) return;
  std::cout << '\n';
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const Arm& arm = sides[i].arm;
    std::cout << fmt::format("{}            {}{}{}\n", "AB"[i], arm.implementation,
                             arm.choice.empty() ? "" : " ", arm.choice);
  }
  print(side_by_side(sides), OutputOptions{});
}

/// Prints once all is known, so that bad input prints nothing.
ExitCode explain(const ExplainArguments& arguments) {
  const OneProblem one = expand_one(arguments.what);
  if (arguments.is_breakdown && kind_of(one.named.problem) != "lstm")
    throw ParseError("--breakdown: only the run of an lstm has parts");
  if (arguments.is_asm && one.conditions.isa == Isa::ref) {
    throw ParseError("--asm: the kernels of --isa ref are not generated, there is no list of them");
  }
  require_loops(one.named.problem);
  std::optional<Arm> other;
  if (arguments.against) other = parse_arm_or_schedule(*arguments.against);
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
  const std::string parts = measured_parts(arguments, run);
  const std::string listings = arguments.is_asm ? kernel_listings(run) : "";
  const std::vector<Side> sides = sides_of(arguments, context, subject.schedule, other);
  std::cout << fmt::format("problem      {}\nconditions   {}\nschedule     {}  ({})\n",
                           to_string(run.problem), to_string(run.conditions),
                           to_string(run.schedule), subject.origin)
            << text;
  say_measured(known.best, flops(run.problem));
  std::cout << parts;
  say_sides(sides);
  std::cout << listings;
  return std::any_of(sides.begin(), sides.end(), ran_badly) ? ExitCode::bad_result : ExitCode::fine;
}

}  // namespace

void add_explain_command(CommandLine& line) {
  auto arguments = std::make_shared<ExplainArguments>();  // lives as long as the action below
  Command command = line.add_command(
      "explain", "What a schedule does, costs by the model, and was measured to cost");
  add_what_options(command, arguments->what);
  command.add({"--schedule", "Instead of the best one known", "SCHEDULE"}, arguments->schedule);
  command.add({"--against", "Side by side with another schedule or implementation (onednn, ...)",
               "SCHEDULE|NAME[:CHOICE]"},
              arguments->against);
  command.add_flag("--counters", "Run it for a moment under the CPU's event counters",
                   arguments->has_counters);
  command.add_flag("--asm", "The kernels' instructions, too", arguments->is_asm);
  command.add_flag("--breakdown", "Run an LSTM: the shares of its products and of the rest, too",
                   arguments->is_breakdown);
  command.add_flag("--no-lock", "Do not wait for other measurements", arguments->no_lock);
  add_database_option(command, arguments->database);
  command.examples(
      {"explain --suite resnet50:4 --dir fwd",
       "explain mb1ic64ih56oc64oh56kh3ph1 --schedule 'N k64 p q14 @ c64 * c r s' --asm",
       "explain mb1ic64ih56oc64oh56kh3ph1 --against onednn --counters",
       "explain --suite lstm:2 --dir bwd --breakdown"});
  command.runs([arguments] { return explain(*arguments); });
}

}  // namespace loopbrick
