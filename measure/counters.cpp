#include "measure/counters.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include "measure/cpuid.h"
#include "measure/system_files.h"

namespace loopbrick {
namespace {

constexpr std::uint64_t read_misses_of(std::uint64_t cache) {
  return cache | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16;
}

/// Number of the event in the low byte, unit mask above it.
std::optional<std::uint64_t> misses_of_l2() {
  constexpr std::uint64_t kIntel = 0x3f24;  // L2_RQSTS.MISS
  constexpr std::uint64_t kAmd = 0x0964;    // L2CacheReqStat: misses of code and of data
  const std::string vendor = cpuid_vendor();
  if (vendor == "GenuineIntel") return kIntel;
  if (vendor == "AuthenticAMD") return kAmd;
  return std::nullopt;
}

int open_counter(const CounterEvent& event, pid_t thread) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.disabled = 1;
  attributes.exclude_kernel = 1;  // what perf_event_paranoid = 2, the usual value, permits
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(
      syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

std::string why_closed(int error) {
  if (error == EACCES || error == EPERM) {
    return fmt::format("the system forbids it (kernel.perf_event_paranoid is {})",
                       read_count("/proc/sys/kernel/perf_event_paranoid").value_or(-1));
  }
  if (error == ENOENT || error == ENODEV || error == EOPNOTSUPP || error == EINVAL) {
    return "this CPU or virtual machine counts no such event";
  }
  if (error == ENOSYS) return "this kernel has no perf_event_open";
  return std::strerror(error);
}

std::vector<pid_t> own_threads() {
  std::vector<pid_t> threads;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    threads.push_back(std::atoi(entry.path().filename().c_str()));
  }
  return threads;
}

void close_all(std::vector<int>& descriptors) {
  for (const int descriptor : descriptors) close(descriptor);
  descriptors.clear();
}

/// Nothing if the counter never had a place in hardware.
std::optional<double> read_scaled(int descriptor) {
  struct {
    std::uint64_t count = 0, enabled = 0, running = 0;
  } seen;
  if (read(descriptor, &seen, sizeof seen) != sizeof seen) return std::nullopt;
  if (seen.running == 0) return seen.enabled == 0 ? std::optional(0.0) : std::nullopt;
  return static_cast<double>(seen.count) * static_cast<double>(seen.enabled) /
         static_cast<double>(seen.running);
}

Reading not_available(const std::string& name, const std::string& reason) {
  return {.name = name, .count = std::nullopt, .reason = "not available: " + reason};
}

}  // namespace

std::vector<CounterEvent> hardware_events() {
  constexpr std::uint32_t kNoSuchType = UINT32_MAX;
  const auto l2 = misses_of_l2();
  return {{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
          {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
          {"L1 misses", PERF_TYPE_HW_CACHE, read_misses_of(PERF_COUNT_HW_CACHE_L1D)},
          {"L2 misses", l2 ? std::uint32_t{PERF_TYPE_RAW} : kNoSuchType, l2.value_or(0)},
          {"LLC misses", PERF_TYPE_HW_CACHE, read_misses_of(PERF_COUNT_HW_CACHE_LL)},
          {"dTLB misses", PERF_TYPE_HW_CACHE, read_misses_of(PERF_COUNT_HW_CACHE_DTLB)}};
}

Counters::Counters(std::span<const CounterEvent> events) {
  const std::vector<pid_t> threads = own_threads();
  for (const CounterEvent& event : events) {
    Opened& opened =
        opened_.emplace_back(Opened{.name = event.name, .descriptors = {}, .reason = {}});
    for (const pid_t thread : threads) {
      const int descriptor = open_counter(event, thread);
      if (descriptor < 0) {
        opened.reason = why_closed(errno);
        close_all(opened.descriptors);
        break;
      }
      opened.descriptors.push_back(descriptor);
    }
  }
}

Counters::~Counters() {
  for (Opened& opened : opened_) close_all(opened.descriptors);
}

void Counters::command_all(unsigned long command) const {
  for (const Opened& opened : opened_) {
    for (const int descriptor : opened.descriptors) ioctl(descriptor, command, 0);
  }
}

Reading Counters::Opened::sum() const {
  if (descriptors.empty()) return not_available(name, reason);
  double sum = 0.0;
  for (const int descriptor : descriptors) {
    const auto count = read_scaled(descriptor);
    if (!count) return not_available(name, "other counters took its place");
    sum += *count;
  }
  return {.name = name, .count = sum, .reason = {}};
}

void Counters::start() {
  command_all(PERF_EVENT_IOC_RESET);
  command_all(PERF_EVENT_IOC_ENABLE);
}

std::vector<Reading> Counters::stop() {
  command_all(PERF_EVENT_IOC_DISABLE);
  std::vector<Reading> readings;
  for (const Opened& opened : opened_) readings.push_back(opened.sum());
  return readings;
}

}  // namespace loopbrick
