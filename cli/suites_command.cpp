#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <string>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/output_options.h"
#include "kernels/text.h"
#include "measure/machine.h"
#include "problems/problem.h"
#include "problems/suite.h"
#include "problems/text_file.h"
#include "problems/verbose_log.h"

namespace loopbrick {
namespace {

struct SuitesArguments {
  std::string name;
  std::string log;
  OutputOptions output;
};

/// As every other command sees it where no minibatch is given: one image a thread.
Suite load(std::string_view name) { return load_suite(name, {.minibatch = available_threads()}); }

Table all_suites() {
  Table table{.columns = {"suite", "layers", "gflop", "first"}, .rows = {}};
  for (const std::string_view name : suite_names()) {
    const Suite suite = load(name);
    double total = 0.0;
    for (const SuiteLayer& layer : suite.layers) {
      total += static_cast<double>(layer.count) * flops(layer.problem);
    }
    table.rows.push_back({std::string(name), std::to_string(suite.layers.size()),
                          number(total * 1e-9), to_string(suite.layers.front().problem)});
  }
  return table;
}

Table layers_of(const std::string& name) {
  Table table{.columns = {"layer", "count", "gflop", "problem"}, .rows = {}};
  for (const SuiteLayer& layer : load(name).layers) {
    table.rows.push_back({layer.layer, std::to_string(layer.count),
                          number(flops(layer.problem) * 1e-9), to_string(layer.problem)});
  }
  return table;
}

/// The suite on stdout, what it leaves out on stderr.
void import(const std::string& file) {
  const VerboseLog log =
      parse_verbose_log(std::filesystem::path(file).stem().string(), read_text_file(file));
  for (const auto& [reason, calls] : log.skipped) {
    fmt::print(stderr, "loopbrick: {} of {} calls left out: {}\n", calls, log.calls, reason);
  }
  if (log.suite.layers.empty())
    throw ParseError(fmt::format("'{}' has no call of ours: a log of ONEDNN_VERBOSE=1 has", file));
  fmt::print("{}", to_csv(log.suite));
}

}  // namespace

void add_suites_command(CommandLine& line) {
  auto arguments = std::make_shared<SuitesArguments>();  // lives as long as the action below
  Command command = line.add_command("suites", "The suites, or the layers of one");
  command.add(
      {"name",
       "A suite, some of its layers, or a CSV file; or import, with a log of ONEDNN_VERBOSE=1 "
       "that becomes a suite",
       "NAME[:LAYERS]"},
      arguments->name);
  command.add({"log", "The log to import", "FILE"}, arguments->log);
  add_output_options(command, arguments->output);
  command.examples({"suites", "suites resnet50:1..5", "suites import app.log >app.csv"});
  command.runs([arguments] {
    if ((arguments->name == "import") != !arguments->log.empty())
      throw ParseError("suites import FILE: a log goes with import, and import with a log");
    if (!arguments->log.empty()) {
      import(arguments->log);
      return ExitCode::fine;
    }
    print(arguments->name.empty() ? all_suites() : layers_of(arguments->name), arguments->output);
    return ExitCode::fine;
  });
}

}  // namespace loopbrick
