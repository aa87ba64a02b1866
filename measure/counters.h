#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace loopbrick {

/// One event that the kernel counts for us: type and config of perf_event_attr.
struct CounterEvent {
  std::string name;
  std::uint32_t type = 0;
  std::uint64_t config = 0;
};

/// Cycles, instructions, misses of L1, L2, last cache and data TLB, in this order. L2 misses are an
/// event of the vendor's: known for Intel since Haswell and AMD since Zen.
///
/// Source  perf_event_open(2); Intel SDM volume 3B, L2_RQSTS.MISS; AMD PPR, L2CacheReqStat.
std::vector<CounterEvent> hardware_events();

/// What one event came to.
struct Reading {
  std::string name;
  std::optional<double> count;
  std::string reason;  ///< why there is no count: "not available: ..."; else empty

  friend bool operator==(const Reading&, const Reading&) = default;
};

/// Counts events in user mode on every thread that this process has now.
///
/// A counter that shared its place in hardware is scaled by the share of time that it had. What
/// cannot be counted is a reading without a count, never an error.
///
/// Needs    the threads stay alive until stop; those that start later are not counted.
/// Threads  one.
class Counters {
 public:
  explicit Counters(std::span<const CounterEvent> events);
  ~Counters();
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;

  void start();
  std::vector<Reading> stop();  ///< since start, all threads together

 private:
  struct Opened {
    std::string name;
    std::vector<int> descriptors;  ///< one a thread; empty if one of them could not be opened
    std::string reason;

    Reading sum() const;
  };
  void command_all(unsigned long command) const;

  std::vector<Opened> opened_;
};

}  // namespace loopbrick
