#pragma once
#include <cstdint>
#include <string>

namespace loopbrick {

/// What the system counted so far against this process and this machine.
struct Disturbances {
  std::int64_t stolen_ticks = 0;          ///< taken by the hypervisor, all CPUs, in 1/100 s
  std::int64_t involuntary_switches = 0;  ///< of this process
  double busy_seconds = 0.0;              ///< of all CPUs, whoever ran there
  double own_seconds = 0.0;               ///< of them, this process
};
Disturbances disturbances(const std::string& root = "/");

/// CPUs that other processes kept busy between the two, `seconds` apart. The system counts in
/// hundredths of a second, so that over less than a second it is a rough number.
double other_cpus(const Disturbances& before, const Disturbances& after, double seconds);

/// "always", "madvise" or "never": whether the system makes huge pages by itself; "?" where it does
/// not say.
std::string transparent_huge_pages(const std::string& root = "/");

/// The facts that change from run to run and go with every number, as "key=value ...":
/// "pin=0,1 load=0.08 steal=0.00s switches=0 clock=4.12GHz thp=madvise huge=0k".
///
/// `before` is from the start of the measurement. Takes about a millisecond.
std::string surroundings(const Disturbances& before, int threads, const std::string& root = "/");

}  // namespace loopbrick
