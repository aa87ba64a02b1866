#pragma once
#include <string>
#include <vector>

namespace loopbrick {

/// One logical CPU and where it sits.
struct LogicalCpu {
  int number = 0;
  int package = 0;
  int core = 0;           ///< unique within its package
  bool is_small = false;  ///< its core is of a slower kind than the fastest: an E or a dense core

  friend bool operator==(const LogicalCpu&, const LogicalCpu&) = default;
};

/// The logical CPUs that are online, by number: from /sys, else /proc/cpuinfo, else the system's
/// count and CPUID. Small cores are told by /sys alone: Intel's list of big cores (cpu_core/cpus),
/// else cpu_capacity, else the highest frequency; what reaches less than four fifths of the fastest
/// is small.
std::vector<LogicalCpu> online_cpus(const std::string& root = "/");

/// Those that this process may run on (its affinity mask).
std::vector<LogicalCpu> allowed_cpus(const std::string& root = "/");

/// Those of the fastest kind among `cpus`: all but the small ones, or all where there are no
/// others.
std::vector<LogicalCpu> fastest_kind(const std::vector<LogicalCpu>& cpus);

/// One logical CPU of each core among `cpus`, package by package, those of small cores behind all
/// others; and then the siblings.
std::vector<LogicalCpu> cores_first(const std::vector<LogicalCpu>& cpus);

int count_cores(const std::vector<LogicalCpu>& cpus);
int count_packages(const std::vector<LogicalCpu>& cpus);

}  // namespace loopbrick
