#pragma once
#include <string>
#include <vector>

namespace loopbrick {

/// One logical CPU and where it sits.
struct LogicalCpu {
  int number = 0;
  int package = 0;
  int core = 0;  ///< unique within its package

  friend bool operator==(const LogicalCpu&, const LogicalCpu&) = default;
};

/// The logical CPUs that are online, by number: from /sys, else /proc/cpuinfo, else the system's
/// count and CPUID.
std::vector<LogicalCpu> online_cpus(const std::string& root = "/");

/// Those that this process may run on (its affinity mask).
std::vector<LogicalCpu> allowed_cpus(const std::string& root = "/");

/// One logical CPU of each core among `cpus`, in their order, and then the siblings.
std::vector<LogicalCpu> cores_first(const std::vector<LogicalCpu>& cpus);

int count_cores(const std::vector<LogicalCpu>& cpus);
int count_packages(const std::vector<LogicalCpu>& cpus);

}  // namespace loopbrick
