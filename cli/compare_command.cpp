#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arm_list.h"
#include "cli/budget_share.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/measuring_run.h"
#include "cli/output_options.h"
#include "cli/progress_line.h"
#include "cli/regression_gate.h"
#include "cli/round_options.h"
#include "cli/what_options.h"
#include "kernels/text.h"
#include "loops/schedule.h"
#include "tuner/compare.h"
#include "tuner/network_comparison.h"

namespace loopbrick {
namespace {

struct CompareArguments {
  WhatOptions what;
  std::optional<std::string> network;  ///< a suite, instead of what
  std::vector<std::string> impls;      ///< none: every baseline
  std::optional<std::string> schedule;
  std::optional<std::string> budget;
  RoundOptions rounds;
  double fail_below = 0.0;
  std::optional<std::string> against;
  std::optional<std::string> junit;
  MeasuringOptions measuring;
  OutputOptions output;
};

Table empty_table() {
  return {
      .columns = {"layer", "problem", "impl", "implementation", "median_s", "gflops", "pct_of_peak",
                  "executed_pct_of_peak", "included", "speedup", "speedup_lo", "speedup_hi",
                  "verdict", "trial", "count", "conditions", "outcome", "reason", "flag"},
      .rows = {}};
}

void add_row(Table& table, const std::string& conditions, const CompareRow& row) {
  const bool is_ok = row.outcome == "ok";
  const auto cell = [is_ok](double value) {
    return is_ok && value > 0 ? std::optional(number(value, 5)) : std::nullopt;
  };
  const auto id = row.trial != 0 ? std::optional(std::to_string(row.trial)) : std::nullopt;
  table.rows.push_back({row.layer, row.problem, row.impl, row.implementation, cell(row.median_s),
                        cell(row.gflops), cell(row.pct_of_peak), cell(row.executed_pct_of_peak),
                        row.included, cell(row.speedup), cell(row.speedup_lo), cell(row.speedup_hi),
                        row.verdict, id, std::to_string(row.count), conditions, row.outcome,
                        row.reason, row.flag});
}

/// The arms that have a mean to show, in the order of the report.
std::vector<std::string> others(const std::vector<CompareRow>& rows) {
  std::vector<std::string> names;
  for (const CompareRow& row : rows) {
    const bool is_new = std::find(names.begin(), names.end(), row.impl) == names.end();
    if (!row.is_ours && is_new) names.push_back(row.impl);
  }
  return names;
}

/// Says every mean speedup; is one of them below the least that the user accepts?
bool say_means(const std::vector<CompareRow>& rows, double least) {
  bool is_low = false;
  for (const std::string& name : others(rows)) {
    const double mean = mean_speedup(rows, name);
    if (mean <= 0) continue;
    std::cerr << fmt::format("tuned against {}: {:.3f} times as fast (geometric mean)\n", name,
                             mean);
    is_low = is_low || mean < least;
  }
  return is_low;
}

/// Ours must be ok; the others may be unable to run a problem, but not wrong.
bool has_bad_row(const std::vector<CompareRow>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const CompareRow& row) {
    return row.outcome == "wrong_result" || (row.is_ours && row.outcome != "ok");
  });
}

/// Else nobody would see that a row of ours was not tuned here.
void warn_of(const std::vector<CompareRow>& rows, std::string_view impl, std::string_view what) {
  const auto count = std::count_if(rows.begin(), rows.end(), [impl](const CompareRow& row) {
    return row.is_ours && row.impl == impl && !row.implementation.empty();
  });
  if (count == 0) return;
  std::cerr << fmt::format("warning: {} not tuned: {} stands in (impl '{}')\n",
                           count == 1 ? "one problem is" : fmt::format("{} problems are", count),
                           what, impl);
}

/// Errors  throws ParseError for what a network does not take.
WhatOptions what_of(const CompareArguments& arguments) {
  WhatOptions what = arguments.what;
  if (!arguments.network) return what;
  const WhatRequest& request = what.request;
  if (!request.texts.empty() || !request.suites.empty() || !request.batches.empty())
    throw ParseError("--network takes the layers of its suite: no other problems beside it");
  if (arguments.schedule) throw ParseError("--network takes no --schedule: each layer has its own");
  if (arguments.budget) throw ParseError("--network takes no --budget: it is one comparison");
  what.request.suites = {*arguments.network};
  return what;
}

using Clock = std::chrono::steady_clock;

/// Errors  throws ParseError if it is no budget or one of trials: every arm is one trial.
Budget budget_of(const CompareArguments& arguments) {
  if (!arguments.budget) return {};
  const Budget budget = parse_budget(*arguments.budget);
  if (budget.trials == 0 && budget.stale == 0) return budget;
  throw ParseError(fmt::format("compare has no budget of trials, only of time like 120s: not '{}'",
                               *arguments.budget));
}

std::vector<Arm> arms_of(const CompareArguments& arguments) {
  if (arguments.against) return {};
  return arguments.impls.empty() ? all_baselines() : parse_arms(arguments.impls);
}

/// Errors  throws ParseError for options that do not go together.
void check_options(const CompareArguments& arguments) {
  if (arguments.junit && !arguments.against) {
    throw ParseError("--junit tells what --against found: give that, too");
  }
  if (arguments.against && arguments.network)
    throw ParseError("--against compares layers with stored times, which --network has none of");
  if (arguments.against && (arguments.schedule || !arguments.impls.empty())) {
    throw ParseError(
        "--against is a comparison with stored times: leave out --impl and --schedule");
  }
}

CompareRequest request_for(const CompareArguments& arguments, const Work& work,
                           const Station& station, const Budget& budget) {
  return {.layers = layers_of(work.what),
          .conditions = work.conditions,
          .station = station,
          .arms = arms_of(arguments),
          .schedule = arguments.schedule.value_or(""),
          .rounds = plan_of(arguments.rounds, arguments.measuring.bench.seed),
          .budget = budget,
          .bench = arguments.measuring.bench};
}

ExitCode run_compare(const CompareArguments& arguments, const std::string& command_line) {
  const Clock::time_point start = Clock::now();
  const std::vector<Work> works = expand(what_of(arguments));
  const Budget budget = budget_of(arguments);
  for (const Work& work : works) request_for(arguments, work, {}, {});  // texts: right or refused
  if (arguments.schedule) parse_schedule(*arguments.schedule);
  check_options(arguments);
  std::optional<RegressionGate> gate;
  if (arguments.against) {
    gate.emplace(*arguments.against, arguments.fail_below, arguments.junit);
    if (arguments.fail_below <= 0.0)
      std::cerr << "warning: without --fail-below, like 0.97, no layer is too slow\n";
  } else if (arguments.impls.empty()) {
    warn_without_baselines();
  }
  MeasuringRun run(
      arguments.measuring,
      {.command = command_line, .strategy = "compare", .budget = arguments.budget.value_or("")});
  Table table = empty_table();
  ExitCode exit = ExitCode::fine;
  ProgressLine line(std::cerr, stderr_is_terminal());
  const CompareWatcher watcher = [&line](const std::string& layer, int done, int layers) {
    line.show(static_cast<double>(done) / std::max(1, layers),
              fmt::format("{}/{} {}", done + 1, layers, layer));
  };
  int parts = static_cast<int>(works.size());
  for (const Work& work : works) {
    const Station station = run.begin(work);
    const Budget share = share_of(budget, Clock::now() - start, parts--);
    const CompareRequest request = request_for(arguments, work, station, share);
    if (gate) {
      if (gate->measure(request, run.store(), watcher)) continue;
      break;
    }
    const CompareReport report =
        arguments.network
            ? compare_network(request, *arguments.network, run.store(), watcher, &interrupted())
            : compare(request, run.store(), watcher, &interrupted());
    for (const CompareRow& row : report.rows) add_row(table, to_string(work.conditions), row);
    warn_of(report.rows, "imported", "an imported schedule");
    warn_of(report.rows, "model", "the model's first choice");
    if (say_means(report.rows, arguments.fail_below) || has_bad_row(report.rows)) {
      exit = ExitCode::bad_result;
    }
    if (report.interrupted) break;
  }
  if (gate) return run.end(gate->report(arguments.output));
  print(table, arguments.output);
  return run.end(exit);
}

}  // namespace

void add_compare_command(CommandLine& line) {
  auto arguments = std::make_shared<CompareArguments>();  // lives as long as the action below
  Command command = line.add_command(
      "compare",
      "The tuned best (impl 'tuned'; of an untuned problem what was 'imported', or the 'model's"
      " first choice)"
      " against other implementations, interleaved in rounds");
  add_what_options(command, arguments->what);
  command.add(
      {"--network", "A suite as one network: its layers back to back, each as often as it counts",
       "NAME[:LAYERS]"},
      arguments->network);
  add_impl_option(command, arguments->impls);
  command.add({"--schedule", "Ours, instead of the best in the database", "SCHEDULE"},
              arguments->schedule);
  add_round_options(command, arguments->rounds);
  command.add({"--budget", "Seconds for the whole command, e.g. 120s", "BUDGET"},
              arguments->budget);
  command.add(
      {"--fail-below",
       "Exit with 1 if a mean ratio (their time over ours) is below; with --against that of any "
       "layer (stored time over today's)",
       "RATIO"},
      arguments->fail_below, {0, 1e9});
  command.add({"--against",
               "Times that another database stores of this machine, of its newest build or of a "
               "commit, instead of other implementations",
               "FILE.db[@COMMIT]"},
              arguments->against);
  command.add({"--junit", "With --against: a report for a build server", "OUT.xml"},
              arguments->junit);
  add_measuring_options(command, arguments->measuring);
  add_perf_map_option(command, arguments->measuring);
  add_output_options(command, arguments->output);
  command.examples({"compare --suite resnet50 --dir fwd --impl onednn,eigen --format csv",
                    "compare --network mlp --impl onednn",
                    "compare mb1ic64ih56oc64oh56kh3ph1 --impl onednn --fail-below 0.97",
                    "compare --suite resnet50 --against main.db@1a2b3c --fail-below 0.97 --junit "
                    "speed.xml"});
  command.runs([arguments, &line] { return run_compare(*arguments, line.text()); });
}

}  // namespace loopbrick
