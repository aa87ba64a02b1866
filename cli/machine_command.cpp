#include <fmt/format.h>
#include <memory>
#include <string>

#include "cli/command_line.h"
#include "cli/commands.h"
#include "cli/measuring_run.h"
#include "cli/output_options.h"
#include "kernels/text.h"
#include "measure/probes.h"
#include "measure/surroundings.h"
#include "measure/trust.h"

namespace loopbrick {
namespace {

struct MachineRequest {
  int threads = 0;  ///< 0: as many as may run here
  std::string isa;  ///< empty: the best
  bool no_lock = false;
  bool strict = false;
  OutputOptions output;
};

class FactTable {
 public:
  void add(const std::string& fact, const std::string& value, const std::string& unit = "") {
    table_.rows.push_back({fact, value, unit});
  }
  const Table& table() const { return table_; }

 private:
  Table table_{.columns = {"fact", "value", "unit"}, .rows = {}};
};

std::string kibibytes(std::int64_t bytes) { return std::to_string(bytes / 1024); }

void add_facts(FactTable& facts, const Machine& machine) {
  facts.add("id", machine.id);
  facts.add("cpu", machine.cpu);
  facts.add("isa", std::string(to_string(machine.isa)));
  facts.add("cores", std::to_string(machine.cores));
  facts.add("threads", std::to_string(machine.threads));
  facts.add("sockets", std::to_string(machine.sockets));
  facts.add("l1d", kibibytes(machine.l1d_bytes), "KiB");
  facts.add("l2", kibibytes(machine.l2_bytes), "KiB");
  facts.add("l3", kibibytes(machine.l3_bytes), "KiB");
  facts.add("memory", kibibytes(machine.memory_bytes / 1024), "MiB");
  facts.add("huge pages", transparent_huge_pages());
}

void add_limits(FactTable& facts, const Limits& limits) {
  facts.add("usable threads", std::to_string(limits.threads));
  facts.add("measured isa", std::string(to_string(limits.isa)));
  facts.add("peak", number(limits.peak_flops * 1e-9), "GFLOP/s");
  facts.add("clock", number(limits.clock_hz * 1e-9), "GHz");
  facts.add("l1 read, one thread", number(limits.l1_bandwidth * 1e-9), "GB/s");
  facts.add("l2 read, one thread", number(limits.l2_bandwidth * 1e-9), "GB/s");
  facts.add("l3 read, one thread", number(limits.l3_bandwidth * 1e-9), "GB/s");
  facts.add("memory read, all threads", number(limits.dram_bandwidth * 1e-9), "GB/s");
  facts.add("barrier", number(limits.barrier_seconds * 1e6), "us");
  facts.add("parallel region", number(limits.fork_seconds * 1e6), "us");
  facts.add("busy with others", number(limits.other_cpus), "CPUs");
  facts.add("noise floor", number(limits.noise_floor * 100), "%");
}

void add_trust(FactTable& facts, const Machine& machine, const Trust& trust) {
  if (machine.isa == Isa::ref) {
    facts.add("warning", "neither AVX-512 nor AVX2 with FMA: only the plain C++ reference runs");
  }
  for (const std::string& warning : trust.warnings) facts.add("warning", warning);
  facts.add("trust", std::string(1, trust.grade), "A to C");
}

Isa wanted_isa(const std::string& text) {
  const Isa isa = text.empty() ? best_isa() : parse_isa(text);
  if (isa > best_isa()) {
    throw ParseError(
        fmt::format("--isa {}: this CPU runs at most {}", text, to_string(best_isa())));
  }
  return isa;
}

ExitCode show_machine(const MachineRequest& request) {
  const Machine machine = detect_machine();
  const Isa isa = wanted_isa(request.isa);
  const int threads = request.threads > 0 ? request.threads : available_threads();
  const auto lock = take_lock(request.no_lock);
  const Limits limits = measure_limits(machine, threads, isa);
  const Trust trust = assess(machine, limits);

  FactTable facts;
  add_facts(facts, machine);
  add_limits(facts, limits);
  add_trust(facts, machine, trust);
  print(facts.table(), request.output);
  return request.strict && trust.grade == 'C' ? ExitCode::untrusted : ExitCode::fine;
}

}  // namespace

void add_machine_command(CommandLine& line) {
  auto request = std::make_shared<MachineRequest>();  // lives as long as the action below
  Command command = line.add_command(
      "machine", "What this machine is and reaches, and how far its numbers can be trusted");
  command.add({"--threads", "Threads of the probes", "N", "all that may run"}, request->threads,
              {1, 4096});
  command.add({"--isa", "ref, avx2 or avx512", "ISA", "the best"}, request->isa);
  command.add_flag("--no-lock", "Do not wait for other measurements", request->no_lock);
  command.add_flag("--strict", "Exit with 3 if the trust grade is C", request->strict);
  add_output_options(command, request->output);
  command.examples({"machine --format md"});
  command.runs([request] { return show_machine(*request); });
}

}  // namespace loopbrick
