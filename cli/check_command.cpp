#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/arm_list.h"
#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output_options.h"
#include "cli/progress_line.h"
#include "cli/what_options.h"
#include "kernels/text.h"
#include "loops/plan.h"
#include "measure/machine.h"
#include "trials/bench.h"
#include "tuner/problem_space.h"
#include "tuner/space.h"

namespace loopbrick {
namespace {

struct CheckArguments {
  WhatOptions what;
  std::int64_t sample = 0;  ///< 0: all
  std::vector<std::string> impls;
  std::optional<std::string> schedule;
  std::uint64_t seed = 1;
  bool in_process = false;
  OutputOptions output;
};

/// What was checked, and the rows of everything that did not pass.
struct Findings {
  std::int64_t checked = 0;
  std::int64_t failed = 0;
  std::int64_t refused = 0;
  Table table{.columns = {"layer", "conditions", "outcome", "reason", "implementation", "choice",
                          "problem"},
              .rows = {}};
};

void add_refused(const RefusedProblem& refused, Findings& findings) {
  ++findings.checked;
  ++findings.refused;
  findings.table.rows.push_back({refused.label, "", "not_applicable", refused.reason, "", "", ""});
}

/// The checks of one layer under one set of conditions.
class LayerCheck {
 public:
  LayerCheck(const CheckArguments& arguments, const Work& work, const NamedProblem& layer,
             Findings& findings, ProgressLine& line)
      : arguments_(arguments), work_(work), layer_(layer), findings_(findings), line_(line) {}

  void run() {
    if (!arguments_.impls.empty()) {
      for (const Arm& arm : parse_arms(arguments_.impls)) check(arm);
    } else if (arguments_.schedule) {
      check(ours(to_string(parse_schedule(*arguments_.schedule))));
    } else {
      check_space();
    }
  }

 private:
  static Arm ours(std::string schedule) {
    return {.implementation = std::string(kLoopbrick.name), .choice = std::move(schedule)};
  }

  void check_space() {
    const Limits unmeasured{.threads = work_.conditions.threads, .isa = work_.conditions.isa};
    const Space space =
        problem_space(layer_.problem, work_.conditions, detect_machine(), unmeasured);
    if (const auto refusal = space.why_not({})) {
      add_row(ours(""), "not_applicable", to_string(*refusal));
    } else if (arguments_.sample > 0) {
      check_sample(space);
    } else {
      walk(space, [&](const Point& point) {
        check(ours(space.text(point)));
        return !interrupted();
      });
    }
  }

  void check_sample(const Space& space) {
    Random random(arguments_.seed);
    for (std::int64_t i = 0; i < arguments_.sample && !interrupted(); ++i) {
      const auto point = sample(space, random);
      if (!point) return;
      check(ours(space.text(*point)));
    }
  }

  void check(const Arm& arm) {
    try {
      if (!bench_) bench_ = std::make_unique<Bench>(layer_.problem, work_.conditions, options());
      const Attempt attempt = bench_->check(arm);
      add_row(arm, attempt.outcome, attempt.reason);
    } catch (const NoMemory& error) {
      add_row(arm, "out_of_memory", error.what());
    }
    line_.show(0.0, fmt::format("{}: {} checked, {} failed", layer_.label, findings_.checked,
                                findings_.failed));
  }

  BenchOptions options() const {
    return {.fills = {Fill::integers, Fill::uniform, Fill::ones},
            .seed = arguments_.seed,
            .in_process = arguments_.in_process};
  }

  void add_row(const Arm& arm, const std::string& outcome, const std::string& reason) {
    ++findings_.checked;
    if (outcome == "ok") return;
    ++(outcome == "not_applicable" ? findings_.refused : findings_.failed);
    findings_.table.rows.push_back({layer_.label, to_string(work_.conditions), outcome, reason,
                                    arm.implementation, arm.choice, to_string(layer_.problem)});
  }

  const CheckArguments& arguments_;
  const Work& work_;
  const NamedProblem& layer_;
  Findings& findings_;
  ProgressLine& line_;
  std::unique_ptr<Bench> bench_;
};

/// A schedule or implementation that was named and can run nothing is a bad result, a suite with
/// layers that have no space is none.
bool lacks_what_was_asked(const CheckArguments& arguments, const Findings& findings) {
  const bool is_named = arguments.schedule || !arguments.impls.empty();
  return is_named && findings.refused == findings.checked;
}

ExitCode run_check(const CheckArguments& arguments) {
  const std::vector<Work> works = expand(arguments.what);
  parse_arms(arguments.impls);
  if (arguments.schedule) parse_schedule(*arguments.schedule);
  if (arguments.schedule && !arguments.impls.empty()) {
    throw ParseError("check takes --schedule or --impl, not both");
  }
  watch_for_interrupts();
  Findings findings;
  {
    ProgressLine line(std::cerr, stderr_is_terminal());
    for (const Work& work : works) {
      for (const RefusedProblem& refused : work.what.refused) add_refused(refused, findings);
      for (const NamedProblem& named : work.what.problems) {
        if (!interrupted()) LayerCheck(arguments, work, named, findings, line).run();
      }
    }
  }
  print(findings.table, arguments.output);
  std::cerr << fmt::format("{} checked: {} right, {} failed, {} not applicable\n", findings.checked,
                           findings.checked - findings.failed - findings.refused, findings.failed,
                           findings.refused);
  if (interrupted()) return ExitCode::interrupted;
  return findings.failed > 0 || lacks_what_was_asked(arguments, findings) ? ExitCode::bad_result
                                                                          : ExitCode::fine;
}

}  // namespace

void add_check_command(CommandLine& line) {
  auto arguments = std::make_shared<CheckArguments>();  // lives as long as the action below
  Command command = line.add_command(
      "check", "Compare schedules with the reference in double; what fails is listed");
  add_what_options(command, arguments->what);
  command.add({"--sample", "This many schedules at random", "N", "all"}, arguments->sample,
              {1, 1e15});
  command.add({"--schedule", "This schedule only", "SCHEDULE"}, arguments->schedule);
  add_impl_option(command, arguments->impls);
  command.add({"--seed", "Seed of data and sample", "N"}, arguments->seed);
  command.add_flag("--in-process", "No worker process: for debuggers", arguments->in_process);
  add_output_options(command, arguments->output);
  command.examples({"check --suite resnet50 --dir fwd --sample 20 --threads 1,2",
                    "check mb2ic64ih56oc64oh56kh3ph1 --impl onednn"});
  command.runs([arguments] { return run_check(*arguments); });
}

}  // namespace loopbrick
