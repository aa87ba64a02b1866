#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/perf_map.h"
#include "problems/implementation.h"
#include "trials/bench.h"
#include "trials/operand_memory.h"

namespace loopbrick {

/// Looks an implementation up by name; nullptr if there is none.
using Find = std::function<const Implementation*(std::string_view name)>;

/// One fill and the memory that holds it and its reference.
struct FilledMemory {
  Fill fill = Fill::uniform;
  int descriptor = -1;
};

/// What an Examiner works on.
struct Examination {
  Problem problem;
  Conditions conditions;
  std::uint64_t seed = 1;
  std::vector<FilledMemory> memory;  ///< the last one is timed
  bool has_perf_map = false;         ///< BenchOptions::has_perf_map
};

/// One process's share of the rounds.
struct RoundShare {
  int first = 0;
  int count = 3;
  int process = 0;
  double sample_seconds = 10e-3;
  std::uint64_t seed = 1;
};

/// Told before an arm (its index) enters a stage ("prepare", "load", "run", "time"), so that a
/// crash can be laid at its door. An arm of -1: none is at work.
using Announce = std::function<void(int arm, std::string_view stage)>;

class Contestant;

/// Checks and times arms in this process: the part of a trial that a worker does.
///
/// An arm that refuses, throws or computes something wrong ends with an outcome. One that crashes
/// or hangs takes the process along.
///
/// Errors   the constructor throws std::system_error when memory cannot be mapped.
/// Threads  one.
class Examiner {
 public:
  Examiner(Examination examination, Find find);

  /// Fills the inputs of memory[index] and computes the reference; returns the reference's seconds.
  /// Needed once for each memory, in this process or an earlier one.
  double fill(std::size_t index);

  Attempt check(const Arm& arm, const Announce& announce);
  Attempt attempt(const Arm& arm, const Sampling& sampling, const Announce& announce);
  Counted count(const Arm& arm, double seconds, const Announce& announce);
  Rounds rounds(std::span<const Arm> arms, const RoundShare& share, const Announce& announce);

 private:
  const MappedArrays& operands_of(std::size_t index);
  const Arrays& arrays_to_load(std::size_t index);
  void prepare(Contestant& contestant, int copies);
  void verify(Contestant& contestant, int copies);
  void verify_fill(Contestant& contestant, std::size_t index);
  void compare_with_reference(Contestant& contestant, std::size_t index);
  bool fit_together(std::span<const Arm> arms) const;
  void make_ready_for_rounds(Contestant& contestant, double sample_seconds);
  Sample take_sample(Contestant& contestant);
  void run_round(std::vector<Contestant>& contestants, const RoundShare& share, int round,
                 bool together);

  Examination examination_;
  Find find_;
  std::optional<PerfMap> perf_map_;   ///< made with the first kernel
  std::vector<MappedArrays> mapped_;  ///< of each memory, mapped when first needed
  MappedArrays outputs_;              ///< where results are unloaded to
  int copies_ = 1;                    ///< of an arm's buffers that the calls rotate through
};

}  // namespace loopbrick
