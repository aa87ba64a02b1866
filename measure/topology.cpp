#include "measure/topology.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <set>
#include <unistd.h>
#include <utility>

#include "measure/cpuid.h"
#include "measure/system_files.h"

namespace loopbrick {
namespace {

namespace fs = std::filesystem;

std::vector<LogicalCpu> cpus_from_sys(const std::string& root) {
  const fs::path folder = fs::path(root) / "sys/devices/system/cpu";
  std::vector<LogicalCpu> cpus;
  for (const int number : parse_cpu_list(read_text(folder / "online").value_or(""))) {
    const fs::path topology = folder / ("cpu" + std::to_string(number)) / "topology";
    const auto package = read_count(topology / "physical_package_id");
    const auto core = read_count(topology / "core_id");
    if (!package || !core) return {};
    cpus.push_back({number, static_cast<int>(*package), static_cast<int>(*core)});
  }
  return cpus;
}

/// Intel's hybrid CPUs list the logical CPUs of their big cores.
bool mark_by_list(const fs::path& sys, std::vector<LogicalCpu>& cpus) {
  const std::vector<int> big = parse_cpu_list(read_text(sys / "cpu_core/cpus").value_or(""));
  for (LogicalCpu& cpu : cpus) {
    cpu.is_small = !big.empty() && std::find(big.begin(), big.end(), cpu.number) == big.end();
  }
  return !big.empty();
}

/// By the number that `file` of each CPU holds. Between cores of one kind it differs by some
/// percent, since the best of a chip may be clocked higher.
bool mark_by_number(const fs::path& sys, const char* file, std::vector<LogicalCpu>& cpus) {
  constexpr double kSameKind = 0.8;
  std::vector<double> numbers;
  for (const LogicalCpu& cpu : cpus) {
    const auto number = read_count(sys / "system/cpu" / fmt::format("cpu{}", cpu.number) / file);
    if (!number) return false;
    numbers.push_back(static_cast<double>(*number));
  }
  if (numbers.empty()) return false;
  const double most = *std::max_element(numbers.begin(), numbers.end());
  for (std::size_t i = 0; i < cpus.size(); ++i) cpus[i].is_small = numbers[i] < kSameKind * most;
  return true;
}

/// The first source that there is decides.
void mark_small(const std::string& root, std::vector<LogicalCpu>& cpus) {
  const fs::path sys = fs::path(root) / "sys/devices";
  if (mark_by_list(sys, cpus) || mark_by_number(sys, "cpu_capacity", cpus)) return;
  mark_by_number(sys, "cpufreq/cpuinfo_max_freq", cpus);
}

std::optional<int> number_in(const std::string& record, const char* name) {
  const std::string value = field(record, name);
  if (value.empty()) return std::nullopt;
  const std::vector<int> numbers = parse_cpu_list(value);
  return numbers.empty() ? std::nullopt : std::optional(numbers.front());
}

/// One record a CPU, with an empty line between.
std::vector<LogicalCpu> cpus_from_cpuinfo(const std::string& root) {
  std::string text = read_text(fs::path(root) / "proc/cpuinfo").value_or("");
  std::vector<LogicalCpu> cpus;
  while (!text.empty()) {
    const std::size_t end = text.find("\n\n");
    const std::string record = text.substr(0, end);
    if (const auto number = number_in(record, "processor")) {
      cpus.push_back({*number, number_in(record, "physical id").value_or(0),
                      number_in(record, "core id").value_or(*number)});
    }
    text = end == std::string::npos ? std::string() : text.substr(end + 2);
  }
  return cpus;
}

std::vector<LogicalCpu> cpus_from_cpuid() {
  const int count = std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  const int cores = std::max(1, count / cpuid_threads_per_core());
  std::vector<LogicalCpu> cpus;
  for (int number = 0; number < count; ++number) cpus.push_back({number, 0, number % cores});
  return cpus;
}

using Place = std::pair<int, int>;

std::set<Place> places(const std::vector<LogicalCpu>& cpus) {
  std::set<Place> all;
  for (const LogicalCpu& cpu : cpus) all.emplace(cpu.package, cpu.core);
  return all;
}

}  // namespace

std::vector<LogicalCpu> online_cpus(const std::string& root) {
  std::vector<LogicalCpu> cpus = cpus_from_sys(root);
  if (cpus.empty()) cpus = cpus_from_cpuinfo(root);
  if (cpus.empty()) cpus = cpus_from_cpuid();
  mark_small(root, cpus);
  return cpus;
}

std::vector<LogicalCpu> allowed_cpus(const std::string& root) {
  const std::vector<LogicalCpu> online = online_cpus(root);
  const std::string status = read_text(fs::path(root) / "proc/self/status").value_or("");
  const std::vector<int> mask = parse_cpu_list(field(status, "Cpus_allowed_list"));
  std::vector<LogicalCpu> allowed;
  std::copy_if(online.begin(), online.end(), std::back_inserter(allowed), [&](const auto& cpu) {
    return std::find(mask.begin(), mask.end(), cpu.number) != mask.end();
  });
  return allowed.empty() ? online : allowed;
}

std::vector<LogicalCpu> fastest_kind(const std::vector<LogicalCpu>& cpus) {
  std::vector<LogicalCpu> fast;
  std::copy_if(cpus.begin(), cpus.end(), std::back_inserter(fast),
               [](const LogicalCpu& cpu) { return !cpu.is_small; });
  return fast.empty() ? cpus : fast;
}

std::vector<LogicalCpu> cores_first(const std::vector<LogicalCpu>& cpus) {
  std::vector<LogicalCpu> sorted = cpus;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& left, const auto& right) {
    return std::pair(left.is_small, left.package) < std::pair(right.is_small, right.package);
  });
  std::vector<LogicalCpu> first;
  std::vector<LogicalCpu> siblings;
  std::set<Place> seen;
  for (const LogicalCpu& cpu : sorted) {
    (seen.emplace(cpu.package, cpu.core).second ? first : siblings).push_back(cpu);
  }
  first.insert(first.end(), siblings.begin(), siblings.end());
  return first;
}

int count_cores(const std::vector<LogicalCpu>& cpus) {
  return static_cast<int>(places(cpus).size());
}

int count_packages(const std::vector<LogicalCpu>& cpus) {
  std::set<int> packages;
  for (const LogicalCpu& cpu : cpus) packages.insert(cpu.package);
  return static_cast<int>(packages.size());
}

}  // namespace loopbrick
