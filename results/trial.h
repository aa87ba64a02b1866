#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace loopbrick {

/// A statistic of per-call seconds.
struct Measured {
  int n = 0;  ///< samples; 0: not measured
  double median = 0.0;
  double lo = 0.0;  ///< 99 % interval of the median
  double hi = 0.0;
  double min = 0.0;
  int processes = 0;

  friend bool operator==(const Measured&, const Measured&) = default;
};

struct TimedSample {
  double start = 0.0;
  double seconds = 0.0;
  int calls = 1;
  int round = 0;
  int process = 0;
  int order = 0;
  bool confirming = false;  ///< taken after the choice was made

  friend bool operator==(const TimedSample&, const TimedSample&) = default;
};

/// One row, whoever ran it. Its key is problem, implementation, choice, machine, conditions and
/// build, as texts.
struct TrialRecord {
  std::int64_t id = 0;  ///< given by the store
  std::int64_t campaign = 0;
  std::string problem{};
  std::string implementation{};
  std::string choice{};
  std::string machine{};
  std::string conditions{};
  std::string build{};
  std::string outcome = "ok";
  std::string reason{};
  Measured search;              ///< while it was one of many
  Measured confirmed;           ///< after it was chosen; `best` reads this only
  double flops = 0.0;           ///< counted
  double executed_flops = 0.0;  ///< really executed, 0 if unknown
  double peak_flops = 0.0;      ///< FLOP/s of the probe in the same rounds, 0 if none
  double predicted = 0.0;       ///< seconds, by the cost model; 0 if not predicted
  double prepare_seconds = 0.0;
  std::int64_t workspace_bytes = 0;
  std::string ran{};  ///< name of the code that ran
  std::string included{};
  std::string flag{};
  std::string version{};         ///< of the implementation's library
  std::string volatile_facts{};  ///< load, steal, clock, pinning, ... as "key=value ..."
  std::vector<TimedSample> samples{};
  std::string taken{};  ///< UTC, given by the store

  friend bool operator==(const TrialRecord&, const TrialRecord&) = default;
};

struct MachineRecord {
  std::string id{}, cpu{}, isa{};
  int cores = 0, threads = 0, sockets = 0;
  std::int64_t l1d_bytes = 0, l2_bytes = 0, l3_bytes = 0, memory_bytes = 0;

  friend bool operator==(const MachineRecord&, const MachineRecord&) = default;
};

struct BuildRecord {
  std::string id{};  ///< "0.1.0 abc1234 g++-12.2.0 release gen1"
  std::string version{}, commit{}, compiler{}, build_type{};
  int generator = 0;

  friend bool operator==(const BuildRecord&, const BuildRecord&) = default;
};

/// One run of the program.
struct CampaignRecord {
  std::int64_t id = 0;
  std::string command{}, machine{}, build{}, strategy{}, budget{}, trust{}, warnings{};
  std::uint64_t seed = 0;
  double peak_flops = 0.0, l1_bandwidth = 0.0, l2_bandwidth = 0.0, l3_bandwidth = 0.0,
         dram_bandwidth = 0.0, clock_hz = 0.0, noise_floor = 0.0;
  std::string started{}, ended{};  ///< UTC, given by the store; not ended while it runs
  std::string how{};               ///< it ended: what end_campaign was told

  friend bool operator==(const CampaignRecord&, const CampaignRecord&) = default;
};

/// A ratio of two trials from the same rounds: time of `other` over time of `trial`.
struct ComparisonRecord {
  std::int64_t campaign = 0, trial = 0, other = 0;
  double ratio = 1.0, lo = 1.0, hi = 1.0;
  int rounds = 0;
  std::string verdict{};  ///< of trial against other

  friend bool operator==(const ComparisonRecord&, const ComparisonRecord&) = default;
};

/// One layer of a suite, so that queries can name layers and weight them by how often a network has
/// them.
struct LayerRecord {
  std::string suite{}, layer{}, problem{};
  std::int64_t count = 1;

  friend bool operator==(const LayerRecord&, const LayerRecord&) = default;
};

/// A schedule that another database or machine found, as it was imported.
struct WisdomRecord {
  std::string machine{}, build{}, conditions{}, problem{}, schedule{};
  double seconds = 0.0;

  friend bool operator==(const WisdomRecord&, const WisdomRecord&) = default;
};

/// How many schedules a problem has under these conditions on that machine, once counted.
struct SpaceRecord {
  std::string problem{}, machine{}, conditions{};
  std::int64_t schedules = 0;
};

}  // namespace loopbrick
