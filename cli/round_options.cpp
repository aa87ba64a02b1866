#include "cli/round_options.h"

#include <CLI/CLI.hpp>

#include <string>

namespace loopbrick {

void add_round_options(CLI::App& command, RoundPlan& plan) {
  command.add_option("--rounds", plan.rounds, "Samples of every implementation")
      ->check(CLI::Range(3, 10000))
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--processes", plan.processes, "Fresh processes to spread the rounds over")
      ->check(CLI::Range(1, 1000))
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option_function<double>(
          "--sample-ms", [&plan](double length) { plan.sample_seconds = length * 1e-3; },
          "Length of one sample")
      ->check(CLI::Range(0.01, 60000.0))
      ->type_name("MS")
      ->default_str("10");
}

}  // namespace loopbrick
