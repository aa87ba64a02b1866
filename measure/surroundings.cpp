#include "measure/surroundings.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <sstream>
#include <sys/resource.h>
#include <unistd.h>

#include "measure/probes.h"
#include "measure/system_files.h"
#include "measure/threads.h"

namespace loopbrick {
namespace {

namespace fs = std::filesystem;

/// What the system counted for all CPUs: "cpu  user nice system idle iowait irq softirq steal ...".
struct Ticks {
  std::int64_t user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, softirq = 0,
               stolen = 0;
};

Ticks ticks(const std::string& root) {
  std::istringstream stat(read_text(fs::path(root) / "proc/stat").value_or(""));
  std::string name;
  Ticks all;
  stat >> name >> all.user >> all.nice >> all.system >> all.idle >> all.waiting >> all.irq >>
      all.softirq >> all.stolen;
  return stat ? all : Ticks{};
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

std::string first_word(const fs::path& file) {
  std::istringstream text(read_text(file).value_or("?"));
  std::string word;
  text >> word;
  return word;
}

/// Memory of this process in huge pages, as "2048k".
std::string huge_page_memory(const std::string& root) {
  const std::string rollup = read_text(fs::path(root) / "proc/self/smaps_rollup").value_or("");
  std::istringstream value(field(rollup, "AnonHugePages"));
  std::int64_t kibibytes = 0;
  return value >> kibibytes ? fmt::format("{}k", kibibytes) : "?";
}

std::string with_commas(std::string text) {
  std::replace(text.begin(), text.end(), ' ', ',');
  return text;
}

}  // namespace

Disturbances disturbances(const std::string& root) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const Ticks all = ticks(root);
  const auto busy = static_cast<double>(all.user + all.nice + all.system);
  return {.stolen_ticks = all.stolen,
          .involuntary_switches = usage.ru_nivcsw,
          .busy_seconds = busy / static_cast<double>(sysconf(_SC_CLK_TCK)),
          .own_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime)};
}

double other_cpus(const Disturbances& before, const Disturbances& after, double seconds) {
  const double busy = after.busy_seconds - before.busy_seconds;
  const double own = after.own_seconds - before.own_seconds;
  return seconds > 0.0 ? std::max(0.0, (busy - own) / seconds) : 0.0;
}

/// The word in brackets of "always [madvise] never".
std::string transparent_huge_pages(const std::string& root) {
  const std::string text =
      read_text(fs::path(root) / "sys/kernel/mm/transparent_hugepage/enabled").value_or("");
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']');
  if (open == std::string::npos || close == std::string::npos) return "?";
  return text.substr(open + 1, close - open - 1);
}

std::string surroundings(const Disturbances& before, int threads, const std::string& root) {
  const Disturbances now = disturbances(root);
  return fmt::format("pin={} load={} steal={:.2f}s switches={} clock={:.2f}GHz thp={} huge={}",
                     with_commas(pinning(threads)), first_word(fs::path(root) / "proc/loadavg"),
                     static_cast<double>(now.stolen_ticks - before.stolen_ticks) / 100.0,
                     now.involuntary_switches - before.involuntary_switches,
                     clock_probe(0.3e-3) / 1e9, transparent_huge_pages(root),
                     huge_page_memory(root));
}

}  // namespace loopbrick
