#include "cli/measuring_run.h"

#include <exception>
#include <iostream>
#include <string>
#include <utility>

#include "cli/build_facts.h"
#include "cli/command_line.h"
#include "cli/database_option.h"
#include "cli/interrupt.h"
#include "measure/probes.h"
#include "measure/trust.h"
#include "results/file_system.h"

namespace loopbrick {
namespace {

MachineRecord record_of(const Machine& machine) {
  return {.id = machine.id,
          .cpu = machine.cpu,
          .isa = std::string(to_string(machine.isa)),
          .cores = machine.cores,
          .threads = machine.threads,
          .sockets = machine.sockets,
          .l1d_bytes = machine.l1d_bytes,
          .l2_bytes = machine.l2_bytes,
          .l3_bytes = machine.l3_bytes,
          .memory_bytes = machine.memory_bytes};
}

std::string joined(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += (text.empty() ? "" : "; ") + sentence;
  return text;
}

Store open_and_say(const std::string& file, bool durable) {
  Store store(file, Access::write);
  if (durable) store.survive_power_loss();
  std::cerr << "database: " << file << '\n';
  if (const auto network = network_file_system(file)) {
    std::cerr << "warning: " << file << " lies on a network file system (" << *network
              << "), where locks can fail: write it from one machine only, better to a local file a"
                 " machine, joined by 'loopbrick db merge'\n";
  }
  return store;
}

}  // namespace

std::string database_of(const MeasuringOptions& options) {
  return options.database.value_or(kDefaultDatabase);
}

void add_measuring_options(Command& command, MeasuringOptions& options) {
  add_database_option(command, options.database);
  options.bench.stop = &interrupted();
  command.add({"--seed", "Seed of every random choice", "N"}, options.bench.seed);
  command.add_flag("--no-lock", "Do not wait for other measurements", options.no_lock);
  command.add_flag("--strict", "Exit with 3 if the numbers can't be trusted", options.strict);
  command.add_flag("--durable", "Wait for the disk with every trial: a power cut loses none",
                   options.durable);
  command.add_flag("--in-process", "No worker process: for debuggers", options.bench.in_process);
  command.add_flag("--keep-env", "Let the worker see OMP_* and the like of your shell",
                   options.bench.keep_environment);
}

void add_perf_map_option(Command& command, MeasuringOptions& options) {
  command.add_flag("--perf-map",
                   "Name the generated kernels to perf in /tmp/perf-PID.map, PID the process that "
                   "runs them",
                   options.bench.has_perf_map);
}

std::optional<MachineLock> take_lock(bool no_lock) {
  if (no_lock) return std::nullopt;
  bool told = false;
  return MachineLock([&told] {
    watch_for_interrupts();
    if (interrupted()) throw Interrupted();
    if (!told) {
      std::cerr << "waiting for another measurement to end (" << MachineLock::default_path()
                << ")\n";
    }
    told = true;
  });
}

MeasuringRun::MeasuringRun(const MeasuringOptions& options, CampaignTexts texts)
    : options_(options),
      texts_(std::move(texts)),
      store_(open_and_say(database_of(options), options.durable)),
      lock_(take_lock(options.no_lock)),
      machine_(detect_machine()) {
  watch_for_interrupts();
  store_.add_machine(record_of(machine_));
  store_.add_build(build_facts());
}

MeasuringRun::~MeasuringRun() {
  try {
    end_campaign(interrupted() ? "interrupted" : "failed");
  } catch (const std::exception& error) {
    std::cerr << "loopbrick: the campaign's end is not stored: " << error.what() << '\n';
  }
}

Station MeasuringRun::begin(const Work& work) {
  const Conditions& conditions = work.conditions;
  end_campaign("done");
  const Limits limits = measure_limits(machine_, conditions.threads, conditions.isa);
  const Trust trust = assess(machine_, limits);
  for (const std::string& warning : trust.warnings) std::cerr << "warning: " << warning << '\n';
  untrusted_ = untrusted_ || trust.grade == 'C';
  add_layers(work.what);
  const BuildRecord build = build_facts();
  campaign_ = store_.add_campaign({.command = texts_.command,
                                   .machine = machine_.id,
                                   .build = build.id,
                                   .strategy = texts_.strategy,
                                   .budget = texts_.budget,
                                   .trust = std::string(1, trust.grade),
                                   .warnings = joined(trust.warnings),
                                   .seed = options_.bench.seed,
                                   .peak_flops = limits.peak_flops,
                                   .l1_bandwidth = limits.l1_bandwidth,
                                   .l2_bandwidth = limits.l2_bandwidth,
                                   .l3_bandwidth = limits.l3_bandwidth,
                                   .dram_bandwidth = limits.dram_bandwidth,
                                   .clock_hz = limits.clock_hz,
                                   .noise_floor = limits.noise_floor});
  return {.machine = machine_, .limits = limits, .campaign = campaign_, .build = build.id};
}

ExitCode MeasuringRun::end(ExitCode exit) {
  end_campaign(interrupted() ? "interrupted" : "done");
  if (interrupted()) return ExitCode::interrupted;
  const bool doubtful = options_.strict && untrusted_;
  return exit == ExitCode::fine && doubtful ? ExitCode::untrusted : exit;
}

void MeasuringRun::add_layers(const What& what) {
  for (const RefusedProblem& refused : what.refused) {
    std::cerr << refused.label << " is left out: " << refused.reason << '\n';
  }
  for (const NamedProblem& named : what.problems) {
    if (named.suite.empty()) continue;
    store_.add_layer({.suite = named.suite,
                      .layer = named.layer,
                      .problem = to_string(named.problem),
                      .count = named.multiplicity});
  }
}

void MeasuringRun::end_campaign(std::string_view how) {
  const std::int64_t campaign = std::exchange(campaign_, 0);
  if (campaign != 0) store_.end_campaign(campaign, how);
}

}  // namespace loopbrick
