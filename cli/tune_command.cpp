#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/budget_share.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/database_option.h"
#include "cli/interrupt.h"
#include "cli/measuring_run.h"
#include "cli/output_options.h"
#include "cli/progress_line.h"
#include "cli/shard.h"
#include "cli/what_options.h"
#include "tuner/strategy.h"
#include "tuner/tune.h"

namespace loopbrick {
namespace {

struct TuneArguments {
  WhatOptions what;
  std::string budget = "60s";
  std::string strategy = "model";
  std::optional<std::string> shard;
  bool fresh = false;
  MeasuringOptions measuring;
  OutputOptions output;
};

std::string progress_text(const TuneProgress& now) {
  return fmt::format("{}/{} {} {}: {} trials, best {:.1f} GFLOP/s, {} failures, {:.0f} s left",
                     now.layers_done + 1, now.layers, now.layer, now.phase, now.trials + now.known,
                     now.best_flops * 1e-9, now.failures, now.seconds_left);
}

std::string failure_text(const TuneFailure& failure) {
  std::string text = fmt::format("first {} ({}, {}): {}", failure.outcome, failure.layer,
                                 failure.choice, failure.reason);
  if (failure.trial != 0) text += fmt::format("; again: loopbrick replay {}", failure.trial);
  return text;
}

TuneWatcher watcher(ProgressLine& line) {
  return {.progress =
              [&line](const TuneProgress& now) {
                const double done = static_cast<double>(now.layers_done) / std::max(1, now.layers);
                line.show(done, progress_text(now));
              },
          .failure = [&line](const TuneFailure& failure) { line.say(failure_text(failure)); },
          .stop = &interrupted()};
}

double percent(double flops, double seconds, double peak) {
  return seconds > 0 && peak > 0 ? 100 * flops / seconds / peak : 0.0;
}

void add_row(Table& table, const std::string& conditions, const TunedLayer& layer) {
  const bool found = layer.trial != 0;
  const auto cell = [found](double value) {
    return found && value > 0 ? std::optional(number(value)) : std::nullopt;
  };
  table.rows.push_back({layer.label, conditions, cell(layer.seconds), cell(layer.lo),
                        cell(layer.hi), cell(found ? layer.flops / layer.seconds * 1e-9 : 0),
                        cell(percent(layer.flops, layer.seconds, layer.peak_flops)),
                        cell(percent(layer.executed_flops, layer.seconds, layer.peak_flops)),
                        layer.is_confirmed ? "yes" : "no", std::to_string(layer.trials),
                        std::to_string(layer.known), std::to_string(layer.failures),
                        found ? std::optional(std::to_string(layer.trial)) : std::nullopt,
                        layer.problem, found ? layer.schedule : layer.refusal});
}

void say_why_nothing(const TunedLayer& layer) {
  std::cerr << layer.label << ": no valid schedule found";
  if (!layer.refusal.empty()) std::cerr << ": " << layer.refusal;
  std::cerr << '\n';
  for (const auto& [reason, times] : layer.reasons)
    std::cerr << "  " << times << "x " << reason << '\n';
}

/// Geometric mean of the shares of peak, or 0 without any.
double mean_share(const TuneReport& report) {
  double sum = 0.0;
  int layers = 0;
  for (const TunedLayer& layer : report.layers) {
    const double share = percent(layer.flops, layer.seconds, layer.peak_flops);
    if (layer.trial == 0 || share <= 0) continue;
    sum += std::log(share);
    ++layers;
  }
  return layers > 0 ? std::exp(sum / layers) : 0.0;
}

/// Geometric mean over the layers: time of the search's first candidate over the best's, from the
/// same rounds. 0 without any.
double mean_of_first_choices(const TuneReport& report) {
  double sum = 0.0;
  int layers = 0;
  for (const TunedLayer& layer : report.layers) {
    if (!layer.is_confirmed || layer.first_seconds <= 0) continue;
    sum += std::log(layer.first_seconds / layer.seconds);
    ++layers;
  }
  return layers > 0 ? std::exp(sum / layers) : 0.0;
}

using Clock = std::chrono::steady_clock;

Table empty_table() {
  return {.columns = {"layer", "conditions", "median_s", "lo_s", "hi_s", "gflops", "pct_of_peak",
                      "executed_pct_of_peak", "confirmed", "trials", "known", "failures", "trial",
                      "problem", "schedule"},
          .rows = {}};
}

TuneRequest request_for(const TuneArguments& arguments, const Work& work, const Station& station,
                        const Budget& budget) {
  return {.layers = layers_of(work.what),
          .conditions = work.conditions,
          .station = station,
          .budget = budget,
          .strategy = arguments.strategy,
          .seed = arguments.measuring.bench.seed,
          .resume = !arguments.fresh,
          .bench = arguments.measuring.bench};
}

/// Adds the rows of what was found under one set of conditions. Has every layer that had its turn a
/// valid schedule?
bool report(const TuneReport& found, const std::string& conditions, Table& table) {
  bool is_complete = true;
  for (const TunedLayer& layer : found.layers) {
    add_row(table, conditions, layer);
    if (layer.trial != 0 || found.interrupted) continue;
    is_complete = false;
    say_why_nothing(layer);
  }
  if (const double mean = mean_share(found); mean > 0) {
    std::cerr << fmt::format("{}: geometric mean {:.1f} % of measured peak\n", conditions, mean);
  }
  if (const double mean = mean_of_first_choices(found); mean > 0) {
    std::cerr << fmt::format("{}: what was tried first takes {:.3f} times as long as the best\n",
                             conditions, mean);
  }
  return is_complete;
}

/// Leaves out what other shards do; a shard without a --db has a file of its own.
std::vector<Work> own_works(const std::optional<Shard>& shard, std::vector<Work> works) {
  if (!shard) return works;
  std::cerr << fmt::format("shard {} of {}\n", shard->number, shard->of);
  for (Work& work : works) work.what = part_of(work.what, *shard);
  std::erase_if(works, [](const Work& work) { return work.what.problems.empty(); });
  return works;
}

MeasuringOptions own_options(const std::optional<Shard>& shard, MeasuringOptions options) {
  if (shard && !options.database) options.database = part_name(kDefaultDatabase, *shard);
  return options;
}

ExitCode run_tune(const TuneArguments& arguments, const std::string& command_line) {
  std::optional<Shard> shard;
  if (arguments.shard) shard = parse_shard(*arguments.shard);
  const std::vector<Work> works = own_works(shard, expand(arguments.what));
  Budget budget = parse_budget(arguments.budget);
  strategy_named(arguments.strategy);
  if (works.empty()) std::cerr << "there are fewer layers than shards: nothing is left for this\n";
  MeasuringRun run(
      own_options(shard, arguments.measuring),
      {.command = command_line, .strategy = arguments.strategy, .budget = to_string(budget)});
  const Clock::time_point start = Clock::now();  // waiting for other measurements is no search
  Table table = empty_table();
  ExitCode exit = ExitCode::fine;
  int parts = static_cast<int>(works.size());
  for (const Work& work : works) {
    ProgressLine line(std::cerr, stderr_is_terminal());
    const Station station = run.begin(work);
    const Budget share = share_of(budget, Clock::now() - start, parts);
    const TuneReport found =
        tune(request_for(arguments, work, station, share), run.store(), watcher(line));
    budget.trials -= budget.trials / parts;
    --parts;
    if (!report(found, to_string(work.conditions), table)) exit = ExitCode::bad_result;
    if (found.interrupted) break;
  }
  print(table, arguments.output);
  return run.end(exit);
}

std::string strategy_names() {
  std::string names;
  for (const StrategyRow& row : strategies()) {
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  }
  return names;
}

}  // namespace

void add_tune_command(CommandLine& line) {
  auto arguments = std::make_shared<TuneArguments>();  // lives as long as the action below
  Command command =
      line.add_command("tune", "Search, verify, measure and store the best schedules");
  add_what_options(command, arguments->what);
  command.add(
      {"--budget",
       "For the whole command: 60s, 200trials; 40stale ends a layer without gain; or several",
       "BUDGET"},
      arguments->budget);
  command.add({"--strategy", strategy_names(), "NAME"}, arguments->strategy);
  command.add(
      {"--shard",
       "Part I of N of the layers, counted from 1, or auto: as mpirun, srun or a Slurm array "
       "says; without --db into loopbrick-IofN.db",
       "I/N|auto"},
      arguments->shard);
  command.add_flag("--fresh", "Measure again what the database knows already", arguments->fresh);
  add_measuring_options(command, arguments->measuring);
  add_output_options(command, arguments->output);
  command.examples(
      {"tune --suite resnet50 --dir fwd --budget 60s", "tune --suite fc --dir fwd,bwd_d,bwd_w",
       "tune mb1ic64ih56oc64oh56kh3ph1 --budget 200trials", "tune --suite resnet50 --shard 2/4"});
  command.runs([arguments, &line] { return run_tune(*arguments, line.text()); });
}

}  // namespace loopbrick
