#include <filesystem>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <string>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/measuring_run.h"
#include "cli/output_file.h"
#include "cli/progress_line.h"
#include "cli/what_options.h"
#include "problems/text_file.h"
#include "tuner/measured_table.h"

namespace loopbrick {
namespace {

struct TableArguments {
  WhatOptions what;
  std::string folder;
  std::int64_t size = 2000;
  bool predict_again = false;
  MeasuringOptions measuring;
};

/// resnet50-4-bwd_d-t2-mb2.csv: every character that means something to a shell becomes a dash.
std::filesystem::path file_of(const TableArguments& arguments, const Layer& layer,
                              const Conditions& conditions) {
  std::string name =
      fmt::format("{}-{}-{}", layer.label, to_string(layer.problem.pass), to_string(conditions));
  for (char& c : name) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
    if (!is_plain) c = '-';
  }
  return std::filesystem::path(arguments.folder) / (name + ".csv");
}

TuneWatcher watcher(ProgressLine& line, std::int64_t size) {
  return {.progress =
              [&line, size](const TuneProgress& now) {
                const auto done = static_cast<double>(now.trials + now.known);
                line.show(std::min(1.0, done / static_cast<double>(size)),
                          fmt::format("{} {}: {} of at most {} schedules, {} failures", now.layer,
                                      now.phase, now.trials + now.known, size, now.failures));
              },
          .failure = {},
          .stop = &interrupted()};
}

/// A table that is there, with the predictions of this build.
void renew_predictions(const std::filesystem::path& file, const TuneRequest& request,
                       ProgressLine& line) {
  const Layer& layer = request.layers.front();
  TimingTable table = parse_timing_table(file.stem().string(), read_text_file(file));
  const std::int64_t lost = predict_again(request, layer, table);
  write_whole(file, to_string(table));
  line.say(fmt::format("{}: {} schedules predicted again, {} have no place in the space of today",
                       file.string(), table.rows.size(), lost));
}

/// Measures one layer's table and writes it, unless its file is there already. False if it was
/// stopped or has nothing to measure.
bool make_table(const TableArguments& arguments, const TuneRequest& request, Store& store,
                ProgressLine& line) {
  const Layer& layer = request.layers.front();
  const std::filesystem::path file = file_of(arguments, layer, request.conditions);
  if (std::filesystem::exists(file)) {
    if (arguments.predict_again) {
      renew_predictions(file, request, line);
    } else {
      line.say(fmt::format("{} is there already", file.string()));
    }
    return true;
  }
  const TuneReport report = tune(request, store, watcher(line, arguments.size));
  if (report.interrupted) return false;
  const std::string& refusal = report.layers.front().refusal;
  if (!refusal.empty()) {
    line.say(fmt::format("{}: no table: {}", layer.label, refusal));
    return false;
  }
  const MeasuredTable measured = measured_table(request, layer, store);
  if (measured.missing > 0) {
    line.say(
        fmt::format("{}: no table: {} schedules have no trial", layer.label, measured.missing));
    return false;
  }
  write_whole(file, to_string(measured.table));
  line.say(fmt::format("{}: {} schedules", file.string(), measured.table.rows.size()));
  return true;
}

/// Errors  throws ParseError where no folder can be: an empty name, or a file in its place.
void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!std::filesystem::is_directory(folder))
    throw ParseError(fmt::format("--out '{}' is no folder and can't be made one", folder.string()));
}

ExitCode run_table(const TableArguments& arguments, const std::string& command_line) {
  const std::vector<Work> works = expand(arguments.what);
  make_folder(arguments.folder);
  MeasuringRun run(arguments.measuring,
                   {.command = command_line, .strategy = "table", .budget = ""});
  ProgressLine line(std::cerr, stderr_is_terminal());
  ExitCode exit = ExitCode::fine;
  for (const Work& work : works) {
    const Station station = run.begin(work);
    for (const Layer& layer : layers_of(work.what)) {
      const TuneRequest request = table_request({.layers = {layer},
                                                 .conditions = work.conditions,
                                                 .station = station,
                                                 .seed = arguments.measuring.bench.seed,
                                                 .bench = arguments.measuring.bench},
                                                arguments.size);
      if (!make_table(arguments, request, run.store(), line)) exit = ExitCode::bad_result;
      if (interrupted()) return run.end(exit);
    }
  }
  return run.end(exit);
}

}  // namespace

void add_table_command(CommandLine& line) {
  auto arguments = std::make_shared<TableArguments>();  // lives as long as the action below
  Command command = line.add_command(
      "table", "Measure a part of the space whole: what 'rehearse' tries strategies on");
  add_what_options(command, arguments->what);
  command.add({"--out", "Where each layer's table goes; one that is there is not measured again",
               "FOLDER", "", true},
              arguments->folder);
  command.add({"--size", "Schedules of a table, at most", "N"}, arguments->size, {1, 1e6});
  command.add_flag("--predict-again", "Of tables that are there renew what the model predicts",
                   arguments->predict_again);
  add_measuring_options(command, arguments->measuring);
  command.examples({"table --suite resnet50:2,5 --dir fwd,bwd_w --out tables",
                    "table mb1ic64ih56oc64oh56kh3ph1 --size 500 --out tables"});
  command.runs([arguments, &line] { return run_table(*arguments, line.text()); });
}

}  // namespace loopbrick
