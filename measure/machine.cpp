#include "measure/machine.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>
#include <sstream>
#include <unistd.h>

#include "measure/cpuid.h"
#include "measure/quota.h"
#include "measure/system_files.h"
#include "measure/topology.h"

namespace loopbrick {
namespace {

namespace fs = std::filesystem;

/// "32768K", "1M".
std::int64_t parse_size(const std::string& text) {
  std::istringstream stream(text);
  std::int64_t value = 0;
  char unit = ' ';
  stream >> value >> unit;
  return value * (unit == 'K' ? 1024 : unit == 'M' ? 1024 * 1024 : 1);
}

CacheSizes caches_from_sys(const std::string& root, int cpu) {
  CacheSizes sizes;
  const fs::path folder =
      fs::path(root) / "sys/devices/system/cpu" / fmt::format("cpu{}", cpu) / "cache";
  for (int index = 0; index < 8; ++index) {
    const fs::path cache = folder / ("index" + std::to_string(index));
    const auto level = read_count(cache / "level");
    if (!level || read_text(cache / "type").value_or("").starts_with("Instruction")) continue;
    const std::int64_t bytes = parse_size(read_text(cache / "size").value_or(""));
    if (*level == 1) sizes.l1d_bytes = bytes;
    if (*level == 2) sizes.l2_bytes = bytes;
    if (*level == 3) sizes.l3_bytes = bytes;
  }
  return sizes;
}

/// Each size from /sys where it is there, else from CPUID.
void fill_caches(const std::string& root, int cpu, Machine& machine) {
  const CacheSizes told = caches_from_sys(root, cpu);
  const CacheSizes own = cpuid_caches();
  machine.l1d_bytes = told.l1d_bytes > 0 ? told.l1d_bytes : own.l1d_bytes;
  machine.l2_bytes = told.l2_bytes > 0 ? told.l2_bytes : own.l2_bytes;
  machine.l3_bytes = told.l3_bytes > 0 ? told.l3_bytes : own.l3_bytes;
}

std::int64_t memory_of(const std::string& root) {
  const std::string text = read_text(fs::path(root) / "proc/meminfo").value_or("");
  std::istringstream value(field(text, "MemTotal"));
  std::int64_t kibibytes = 0;
  if (value >> kibibytes) return kibibytes * 1024;
  return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
}

/// What a model name holds besides the model: marks, clocks, core counts.
bool is_noise(const std::string& word) {
  return word.empty() || word == "cpu" || word == "processor" || word == "r" || word == "tm" ||
         word.ends_with("ghz") || word == "core";
}

/// "Intel(R) Xeon(R) Gold 6154 CPU @ 3.00GHz" becomes "intel-xeon-gold-6154".
std::string slug(const std::string& name) {
  std::string words;
  for (const char letter : name) {
    const auto code = static_cast<unsigned char>(letter);
    words += std::isalnum(code) != 0 || letter == '.' ? static_cast<char>(std::tolower(code)) : ' ';
  }
  std::string joined;
  std::istringstream stream(words);
  for (std::string word; stream >> word;) {
    if (!is_noise(word)) joined += fmt::format("{}{}", joined.empty() ? "" : "-", word);
  }
  return joined.empty() ? "cpu" : joined;
}

std::string size_text(std::int64_t bytes) {
  constexpr std::int64_t kMebi = 1024 * 1024;
  if (bytes >= 2 * kMebi && bytes % kMebi == 0) return fmt::format("{}m", bytes / kMebi);
  return fmt::format("{}k", bytes / 1024);
}

std::string id_of(const std::string& name, const std::string& family, const std::string& model,
                  const Machine& machine) {
  return fmt::format("{}-f{}m{} {}c{}s l2-{} l3-{} {}", slug(name), family, model, machine.cores,
                     machine.sockets, size_text(machine.l2_bytes), size_text(machine.l3_bytes),
                     to_string(machine.isa));
}

std::string or_unknown(std::string text, const char* unknown) {
  return text.empty() ? unknown : text;
}

}  // namespace

Machine detect_machine(const std::string& root) {
  const std::string cpuinfo = read_text(fs::path(root) / "proc/cpuinfo").value_or("");
  const std::string name = or_unknown(field(cpuinfo, "model name"), "unknown CPU");
  const std::string family = or_unknown(field(cpuinfo, "cpu family"), "0");
  const std::string model = or_unknown(field(cpuinfo, "model"), "0");
  const std::vector<LogicalCpu> cpus = online_cpus(root);

  Machine machine{.id = {},
                  .cpu = fmt::format("{} family {} model {}", name, family, model),
                  .isa = best_isa(),
                  .cores = count_cores(cpus),
                  .threads = static_cast<int>(cpus.size()),
                  .sockets = count_packages(cpus),
                  .memory_bytes = memory_of(root)};
  fill_caches(root, fastest_kind(cpus).front().number, machine);
  machine.id = id_of(name, family, model, machine);
  return machine;
}

int available_threads(const std::string& root) {
  const int cores = count_cores(fastest_kind(allowed_cpus(root)));
  const auto quota = cpu_quota(root);
  return std::max(1, quota ? std::min(cores, static_cast<int>(*quota)) : cores);
}

}  // namespace loopbrick
