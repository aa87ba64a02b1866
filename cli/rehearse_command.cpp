#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/output_options.h"
#include "kernels/text.h"
#include "problems/lists.h"
#include "problems/text_file.h"
#include "tuner/rehearsal.h"

namespace loopbrick {
namespace {

struct RehearseArguments {
  std::vector<std::string> tables;
  std::string strategies;
  int seeds = 20;
  std::int64_t trials = 100;
  double noise = 0.01;
  OutputOptions output;
};

/// Numbers of trials that get a row: 1, 2, 3, 5, 7, 10, 15, ... and the last.
std::vector<std::size_t> stations(std::size_t most) {
  std::vector<std::size_t> all;
  for (double at = 1.0; at < static_cast<double>(most); at = std::max(at + 1.0, at * 1.3))
    all.push_back(static_cast<std::size_t>(at));
  all.push_back(most);
  return all;
}

double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(place + 0.5)];
}

/// What one strategy reached on one table by all seeds.
void add_rows(Table& out, const TimingTable& table, const StrategyRow& strategy,
              const RehearseArguments& arguments) {
  std::vector<std::vector<double>> runs;
  for (int seed = 1; seed <= arguments.seeds; ++seed) {
    runs.push_back(rehearse(table, strategy,
                            {.seed = static_cast<std::uint64_t>(seed),
                             .trials = static_cast<std::size_t>(arguments.trials),
                             .noise = arguments.noise}));
  }
  const auto most = std::min(static_cast<std::size_t>(arguments.trials), table.rows.size());
  for (const std::size_t trials : stations(most)) {
    std::vector<double> regrets;
    for (const auto& run : runs) regrets.push_back(run[std::min(trials, run.size()) - 1]);
    std::sort(regrets.begin(), regrets.end());
    const auto cell = [&](double share) {
      const double regret = quantile(regrets, share);
      return regret < std::numeric_limits<double>::infinity()
                 ? std::optional(number(100.0 * regret))
                 : std::nullopt;
    };
    out.rows.push_back({table.name, std::to_string(table.rows.size()), std::string(strategy.name),
                        std::to_string(trials), cell(0.5), cell(0.25), cell(0.75), cell(1.0)});
  }
}

std::vector<const StrategyRow*> chosen_strategies(const std::string& names) {
  std::vector<const StrategyRow*> chosen;
  for (const std::string_view name : split_list(names)) chosen.push_back(&strategy_named(name));
  if (chosen.empty()) throw ParseError("--strategy names none");
  return chosen;
}

ExitCode run_rehearse(const RehearseArguments& arguments) {
  const auto strategies = chosen_strategies(arguments.strategies);
  Table out{.columns = {"table", "schedules", "strategy", "trials", "regret_pct", "lower_quartile",
                        "upper_quartile", "worst"},
            .rows = {}};
  for (const std::string& file : arguments.tables) {
    const TimingTable table =
        parse_timing_table(std::filesystem::path(file).stem().string(), read_text_file(file));
    for (const StrategyRow* strategy : strategies) add_rows(out, table, *strategy, arguments);
  }
  print(out, arguments.output);
  return ExitCode::fine;
}

std::string all_but_exhaustive() {
  std::string names;
  for (const StrategyRow& row : strategies()) {
    if (row.name != "exhaustive") names += fmt::format("{}{}", names.empty() ? "" : ",", row.name);
  }
  return names;
}

}  // namespace

void add_rehearse_command(CommandLine& line) {
  auto arguments = std::make_shared<RehearseArguments>();  // lives as long as the action below
  arguments->strategies = all_but_exhaustive();
  Command command = line.add_command(
      "rehearse", "Run strategies on measured tables: regret by the number of schedules tried");
  command.add({"tables", "Tables written by 'table', or published ones", "FILE.csv", "", true},
              arguments->tables);
  command.add({"--strategy", "Strategies with commas between", "NAMES"}, arguments->strategies);
  command.add({"--seeds", "Runs of each", "N"}, arguments->seeds, {1, 10000});
  command.add({"--trials", "Different schedules that a run may try", "N"}, arguments->trials,
              {1, 1e6});
  command.add({"--noise", "Of an answer: standard deviation of its logarithm", "SHARE"},
              arguments->noise, {0, 1});
  add_output_options(command, arguments->output);
  command.examples({"rehearse results/published/*.csv --format csv",
                    "rehearse tables/*.csv --strategy model,random --trials 40 --seeds 50"});
  command.runs([arguments] { return run_rehearse(*arguments); });
}

}  // namespace loopbrick
