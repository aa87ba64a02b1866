#pragma once
#include <cstdint>
#include <string>

namespace loopbrick {

/// What the system counted so far against this process and this machine.
struct Disturbances {
  std::int64_t stolen_ticks = 0;          ///< taken by the hypervisor, all CPUs, in 1/100 s
  std::int64_t involuntary_switches = 0;  ///< of this process
};
Disturbances disturbances(const std::string& root = "/");

/// The facts that change from run to run and go with every number, as "key=value ...":
/// "pin=0,1 load=0.08 steal=0.00s switches=0 clock=4.12GHz thp=madvise huge=0k".
///
/// `before` is from the start of the measurement. Takes about a millisecond.
std::string surroundings(const Disturbances& before, int threads, const std::string& root = "/");

}  // namespace loopbrick
