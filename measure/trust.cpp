#include "measure/trust.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <sstream>
#include <vector>

#include "measure/quota.h"
#include "measure/system_files.h"
#include "measure/topology.h"

namespace loopbrick {
namespace {

namespace fs = std::filesystem;

constexpr double kSameMargin = 0.01;    // of the verdicts: below it noise decides nothing
constexpr double kNoiseTooHigh = 0.03;  // a slow-down of 3 % must be seen

void warn(Trust& trust, char grade, std::string sentence) {
  trust.grade = std::max(trust.grade, grade);  // A < B < C
  trust.warnings.push_back(std::move(sentence));
}

/// "1.50 0.90 0.70 3/120 4711": the averages, then who is running of how many there are. The
/// average alone remembers our own last run for minutes; whoever disturbs us is running now, beside
/// us.
void judge_load(const Machine& machine, const std::string& root, Trust& trust) {
  std::istringstream text(read_text(fs::path(root) / "proc/loadavg").value_or(""));
  double load = 0.0;
  double ignored = 0.0;
  int running = 0;
  if (!(text >> load >> ignored >> ignored >> running) || load < 0.5 || running < 2) return;
  warn(trust, load > machine.cores ? 'C' : 'B',
       fmt::format("other work is running: load average {:.2f} on {} cores", load, machine.cores));
}

/// The load average rises slowly: it does not know yet who began a second ago.
void judge_others(const Limits& limits, Trust& trust) {
  constexpr double kSome = 0.1;
  constexpr double kMuch = 0.5;
  if (limits.other_cpus < kSome) return;
  warn(trust, limits.other_cpus > kMuch ? 'C' : 'B',
       fmt::format("other processes kept {:.2f} CPUs busy while the machine was probed",
                   limits.other_cpus));
}

void judge_governor(const std::string& root, Trust& trust) {
  const auto text =
      read_text(fs::path(root) / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  if (!text || text->starts_with("performance")) return;
  const std::string governor = text->substr(0, text->find('\n'));
  warn(trust, 'B', fmt::format("the frequency governor is '{}', not 'performance'", governor));
}

void judge_virtualisation(const std::string& root, Trust& trust) {
  const std::string cpuinfo = read_text(fs::path(root) / "proc/cpuinfo").value_or("");
  const std::string flags = fmt::format(" {} ", field(cpuinfo, "flags"));
  if (flags.find(" hypervisor ") == std::string::npos) return;
  warn(trust, 'B', "this is a virtual machine: its neighbours share caches, memory and clock");
}

void judge_siblings(const Machine& machine, Trust& trust) {
  if (machine.threads <= machine.cores) return;
  warn(trust, 'B',
       fmt::format("SMT is on: {} logical CPUs share {} cores", machine.threads, machine.cores));
}

/// The CPUs that `threads` threads are pinned to are the first ones.
void judge_sockets(const Limits& limits, const std::string& root, Trust& trust) {
  std::vector<LogicalCpu> cpus = cores_first(allowed_cpus(root));
  cpus.resize(std::min(cpus.size(), static_cast<std::size_t>(std::max(1, limits.threads))));
  if (const int sockets = count_packages(cpus); sockets > 1) {
    warn(trust, 'B',
         fmt::format(
             "the threads run on {} sockets: each reads what lies in the other's memory more "
             "slowly",
             sockets));
  }
}

void judge_quota(const std::string& root, Trust& trust) {
  if (const auto quota = cpu_quota(root)) {
    warn(trust, 'B', fmt::format("a control group stops this process above {:.1f} CPUs", *quota));
  }
}

void judge_threads(const Limits& limits, const std::string& root, Trust& trust) {
  const int available = available_threads(root);
  if (limits.threads <= available) return;
  warn(trust, 'C', fmt::format("{} threads share {} available cores", limits.threads, available));
}

void judge_noise(const Limits& limits, Trust& trust) {
  if (limits.noise_floor <= kSameMargin) return;
  warn(trust, limits.noise_floor > kNoiseTooHigh ? 'C' : 'B',
       fmt::format("the noise floor is {:.1f} %, above the 1 % of a verdict",
                   100.0 * limits.noise_floor));
}

}  // namespace

Trust assess(const Machine& machine, const Limits& limits, const std::string& root) {
  Trust trust;
  judge_load(machine, root, trust);
  judge_others(limits, trust);
  judge_governor(root, trust);
  judge_virtualisation(root, trust);
  judge_siblings(machine, trust);
  judge_sockets(limits, root, trust);
  judge_quota(root, trust);
  judge_threads(limits, root, trust);
  judge_noise(limits, trust);
  return trust;
}

}  // namespace loopbrick
