#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "measure/counters.h"
#include "problems/conditions.h"
#include "problems/implementation.h"
#include "problems/operands.h"
#include "problems/problem.h"

namespace loopbrick {

/// One contestant: an Implementation's name and its choice ("loopbrick" + schedule text, "onednn" +
/// "nhwc").
struct Arm {
  std::string implementation;
  std::string choice;

  friend bool operator==(const Arm&, const Arm&) = default;
};

/// One timed stretch of back-to-back calls.
struct Sample {
  double start = 0.0;    ///< seconds on the monotonic clock
  double seconds = 0.0;  ///< per call
  int calls = 1;
  int round = 0;
  int process = 0;
  int order = 0;  ///< place of the arm within its round

  friend bool operator==(const Sample&, const Sample&) = default;
};

/// What became of one arm: outcome, and the samples if it was timed.
struct Attempt {
  /// ok wrong_result crashed timed_out out_of_memory jit_failed not_applicable
  std::string outcome = "ok";
  std::string reason;  ///< for all but ok: one sentence
  std::string ran;     ///< Runnable::implementation
  std::string included;
  std::string flag;
  std::string version;
  std::string facts;  ///< measure/surroundings.h, if it was measured and not only screened
  double executed_flops = 0.0;
  std::int64_t workspace_bytes = 0;
  double prepare_seconds = 0.0;
  std::vector<Sample> samples;

  friend bool operator==(const Attempt&, const Attempt&) = default;
};

/// How long a search sample may take.
struct Sampling {
  int least_calls = 3;  ///< a screened candidate gets this many single calls
  int samples = 9;      ///< of a candidate that survives screening
  double sample_seconds = 1e-3;
  double give_up_above = 1e300;  ///< seconds a call: stop when the fastest of least_calls is slower
};

struct BenchOptions {
  std::vector<Fill> fills{Fill::uniform};  ///< each is checked; the last one is timed
  std::uint64_t seed = 1;
  double timeout_seconds = 0.0;             ///< for one attempt; 0: from the reference's own time
  bool in_process = false;                  ///< for debuggers: no worker
  bool has_perf_map = false;                ///< whoever runs the arms names our kernels to perf
  const std::atomic<bool>* stop = nullptr;  ///< when set, a busy worker has 3 s left (Stopped)
  bool keep_environment = false;            ///< the worker inherits OPENBLAS_*, DNNL_* and the like
  std::string program = "/proc/self/exe";   ///< started as `program worker FD`
};

/// Rounds of interleaved samples.
struct RoundPlan {
  int rounds = 9;     ///< in all
  int processes = 3;  ///< fresh workers that they are spread over
  double sample_seconds = 10e-3;
  std::uint64_t seed = 1;
  const std::atomic<bool>* stop = nullptr;  ///< when set, no further process is started
};

/// Every arm's samples and the peak probe's of the same rounds.
struct Rounds {
  std::vector<Attempt> arms;
  std::vector<double> peak_flops;  ///< one per round
  bool stopped = false;            ///< by a stop, before all rounds were run
};

/// An attempt with one timed sample, and what the hardware counted in it, each per call and over
/// all threads. Without readings if the outcome is not ok.
struct Counted {
  Attempt attempt;
  std::vector<Reading> readings;
};

/// BenchOptions::stop was set, and the worker was ended in the middle of its work.
struct Stopped : std::exception {
  const char* what() const noexcept override { return "interrupted; what was stored is kept"; }
};

/// The operands do not fit into the memory that is free; what() says how much is missing.
struct NoMemory : std::bad_alloc {
  explicit NoMemory(std::string sentence) : sentence_(std::move(sentence)) {}
  const char* what() const noexcept override { return sentence_.c_str(); }

 private:
  std::string sentence_;
};

/// One problem under one set of conditions, with the worker process that checks and times arms on
/// it.
///
/// The worker is this same binary with the hidden subcommand `worker`, started by posix_spawn with
/// an environment that we write. Inputs and reference live in memory that survives a crash of it. A
/// crash, hang, wrong result or lack of memory is an outcome; the next call starts a new worker
/// over the same memory.
///
/// Errors   the constructor throws NoMemory when the operands do not fit, std::invalid_argument
///          without any fill, std::runtime_error when no worker starts; so does a later call. All
///          but rounds, which tells it in its result, throw Stopped.
/// Threads  one Bench per thread of the caller; the caller sleeps while the worker measures.
class Bench {
 public:
  Bench(const Problem& problem, const Conditions& conditions, const BenchOptions& options);
  ~Bench();

  /// Checks the arm against the reference (all fills), then times it.
  Attempt attempt(const Arm& arm, const Sampling& sampling);

  /// Checks the arm only.
  Attempt check(const Arm& arm);

  /// Checks the arm, then times it once for about `seconds` under hardware_events().
  Counted count(const Arm& arm, double seconds);

  /// Prepares all arms in one worker, checks them, then times them in rounds: one sample of every
  /// arm in random order and a peak probe per round.
  Rounds rounds(std::span<const Arm> arms, const RoundPlan& plan);

 private:
  class Client;
  std::unique_ptr<Client> client_;
};

/// The hidden subcommand: serves the requests that come over file descriptor `socket`. Returns the
/// exit code.
///
/// `table` stands in for implementations(), for tests.
int worker_main(int socket);
int worker_main(int socket, std::span<const Implementation> table);

}  // namespace loopbrick
