#include "trials/bench.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <stdexcept>

#include "kernels/text.h"
#include "measure/quota.h"
#include "trials/attempt_text.h"
#include "trials/examiner.h"
#include "trials/implementations.h"
#include "trials/operand_memory.h"
#include "trials/patience.h"
#include "trials/request.h"
#include "trials/round_share.h"
#include "trials/worker_process.h"

namespace loopbrick {
namespace {

/// Operands once for each fill, and once more in the outputs and buffers of an arm.
void require_memory(const Problem& problem, const BenchOptions& options) {
  const auto times = static_cast<std::int64_t>(options.fills.size()) + 2;
  const std::int64_t needed = saturating_product(times, total_bytes(problem));
  const auto available = available_memory();
  if (!available || needed <= *available) return;
  throw NoMemory(fmt::format("'{}' needs {:.1f} GiB of memory, {:.1f} GiB are free",
                             to_string(problem), static_cast<double>(needed) / (1 << 30),
                             static_cast<double>(*available) / (1 << 30)));
}

std::vector<std::size_t> still_ok(const std::vector<Attempt>& arms) {
  std::vector<std::size_t> ok;
  for (std::size_t i = 0; i < arms.size(); ++i) {
    if (arms[i].outcome == "ok") ok.push_back(i);
  }
  return ok;
}

/// A worker that did not answer: the arm it was busy with (-1: none), and the arm's outcome.
struct Loss {
  int arm = -1;
  Attempt attempt;
};

}  // namespace

/// The caller's side: owns the operands' memory and the worker, or works in process.
class Bench::Client {
 public:
  Client(const Problem& problem, const Conditions& conditions, const BenchOptions& options)
      : options_(options) {
    if (options.fills.empty()) throw std::invalid_argument("Bench: no fill to check with");
    require_memory(problem, options);
    examination_ = {.problem = problem,
                    .conditions = conditions,
                    .seed = options.seed,
                    .memory = {},
                    .has_perf_map = options.has_perf_map};
    for (const Fill kind : options.fills) {
      memory_.push_back(make_operand_memory(problem));
      examination_.memory.push_back({.fill = kind, .descriptor = memory_.back().get()});
    }
    start();
  }

  Attempt check(const Arm& arm) {
    if (local_) return local_->check(arm, kSilent);
    return ask(check_request(arm), 0);
  }

  Attempt attempt(const Arm& arm, const Sampling& sampling) {
    if (local_) return local_->attempt(arm, sampling, kSilent);
    return ask(attempt_request({arm, sampling}), sampling.least_calls + sampling.samples);
  }

  Counted count(const Arm& arm, double seconds) {
    if (local_) return local_->count(arm, seconds, kSilent);
    constexpr int kCalls = 5;  // to warm up, to calibrate, and one if it is slow
    Counted counted{.attempt = ask(count_request({arm, seconds}), kCalls, seconds), .readings = {}};
    if (!worker_) return counted;
    const double limit = allowance(0);
    if (const auto readings = await(limit)) {
      counted.readings = read_readings(*readings);
    } else {
      counted.attempt = bury(limit).attempt;
    }
    return counted;
  }

  Rounds rounds(std::span<const Arm> arms, const RoundPlan& plan) {
    Rounds all;
    all.arms.resize(arms.size());
    for (int process = 0; process < std::max(1, plan.processes); ++process) {
      all.stopped = plan.stop != nullptr && plan.stop->load();
      if (all.stopped) break;
      const RoundShare share = share_of(plan, process);
      try {
        if (share.count > 0) run_share(arms, share, all);
      } catch (const Stopped&) {
        all.stopped = true;
        break;
      }
    }
    return all;
  }

 private:
  static inline const Announce kSilent = [](int, std::string_view) {};

  void start() {
    if (options_.in_process) {
      local_.emplace(examination_, find_implementation);
    } else {
      start_worker();
    }
    for (; filled_ < memory_.size(); ++filled_) {
      reference_seconds_ = std::max(reference_seconds_, fill(filled_));
    }
  }

  void start_worker() {
    WorkerStart start{.program = options_.program,
                      .environment = worker_environment(settings_for(examination_.conditions),
                                                        options_.keep_environment),
                      .inherited = {}};
    for (const FileDescriptor& one : memory_) start.inherited.push_back(one.get());
    worker_ = std::make_unique<WorkerProcess>(start);
    worker_->channel().send(setup_request(examination_));
    constexpr double kLoading = 60.0;
    if (!await(kLoading)) fail_to_start("start");
  }

  double fill(std::size_t index) {
    if (local_) return local_->fill(index);
    worker_->channel().send({.verb = "fill", .fields = {std::to_string(index)}});
    constexpr double kSlowestFlops = 2e7;  // of the reference, in an unoptimised build
    const auto answer = await(60.0 + flops(examination_.problem) / kSlowestFlops);
    if (!answer) fail_to_start("compute the reference");
    return Fields(*answer).number();
  }

  [[noreturn]] void fail_to_start(const char* task) {
    const std::string cause = late_ ? "it took too long" : worker_->cause_of_death();
    const bool no_memory = !late_ && worker_->was_killed();
    worker_.reset();
    const std::string sentence =
        fmt::format("the worker '{}' did not {}: {}", options_.program, task, cause);
    if (no_memory) throw NoMemory(sentence);
    throw std::runtime_error(sentence);
  }

  /// A worker that the user does not wait for ends here.
  Channel::Got receive(Message& message, Channel::Deadline deadline) {
    try {
      return patience_.receive(worker_->channel(), message, deadline);
    } catch (const Stopped&) {
      worker_.reset();
      throw;
    }
  }

  /// The next answer. Nothing if it is late (then late_) or the worker died. Every stage that an
  /// arm enters sets stage_ and, if `each_stage`, starts the time anew.
  std::optional<Message> await(double seconds, bool each_stage = false) {
    Message message;
    Channel::Deadline deadline = deadline_in(seconds);
    stage_ = {.verb = "stage", .fields = {"-1", ""}};
    while (true) {
      const Channel::Got got = receive(message, deadline);
      late_ = got == Channel::Got::late;
      if (got != Channel::Got::message) return std::nullopt;
      if (message.verb == "failed") {
        throw std::runtime_error("the worker failed: " + Fields(message).text());
      }
      if (message.verb != "stage") return message;
      stage_ = message;
      if (each_stage) deadline = deadline_in(seconds);
    }
  }

  /// Ends what is left of a worker that did not answer, and says how it was lost.
  Loss bury(double seconds) {
    Fields stage(stage_);
    Loss loss;
    loss.arm = static_cast<int>(stage.count());
    const std::string where = stage.text();
    if (late_) {
      loss.attempt.outcome = "timed_out";
      loss.attempt.reason = fmt::format("no answer after {:.3g} s, in '{}'", seconds, where);
    } else {
      const std::string cause = worker_->cause_of_death();
      loss.attempt.outcome = worker_->was_killed() ? "out_of_memory" : "crashed";
      loss.attempt.reason =
          worker_->was_killed()
              ? fmt::format("the system killed the worker, most likely for lack of memory, in '{}'",
                            where)
              : fmt::format("{} in '{}'", cause, where);
    }
    worker_.reset();
    return loss;
  }

  /// Seconds for an arm that is checked and then called `timed` times, if it is no more than four
  /// times slower than the reference.
  double allowance(int timed) const {
    if (options_.timeout_seconds > 0.0) return options_.timeout_seconds;
    const auto calls = static_cast<double>(2 * options_.fills.size()) + timed + 1;
    return 10.0 + 4.0 * reference_seconds_ * calls;
  }

  /// `sampled` seconds come on top of the single calls.
  Attempt ask(const Message& request, int timed_calls, double sampled = 0.0) {
    if (!worker_) start();
    const double seconds = allowance(timed_calls) + 2.0 * sampled;
    worker_->channel().send(request);
    const auto answer = await(seconds);
    return answer ? read_attempt(*answer) : bury(seconds).attempt;
  }

  /// Repeats the share without the arms that end a worker until the others get through.
  void run_share(std::span<const Arm> arms, const RoundShare& share, Rounds& all) {
    while (true) {
      const std::vector<std::size_t> chosen = still_ok(all.arms);
      if (chosen.empty()) return;
      RoundsRequest request{.arms = {}, .share = share};
      for (const std::size_t i : chosen) request.arms.push_back(arms[i]);
      Rounds part;
      const std::optional<Loss> loss = run_once(request, part);
      if (loss) {
        all.arms[chosen[static_cast<std::size_t>(loss->arm)]] = loss->attempt;
        continue;
      }
      for (std::size_t i = 0; i < chosen.size(); ++i) {
        merge(std::move(part.arms[i]), all.arms[chosen[i]]);
      }
      all.peak_flops.insert(all.peak_flops.end(), part.peak_flops.begin(), part.peak_flops.end());
      return;
    }
  }

  std::optional<Loss> run_once(const RoundsRequest& request, Rounds& result) {
    if (local_) {
      result = local_->rounds(request.arms, request.share, kSilent);
      return std::nullopt;
    }
    worker_.reset();  // every share gets a fresh process
    start();
    worker_->channel().send(rounds_request(request));
    const double seconds = allowance(3) + 3.0 * request.share.sample_seconds;
    while (const auto answer = await(seconds, true)) {
      if (answer->verb == "attempt") {
        result.arms.push_back(read_attempt(*answer));
        continue;
      }
      for (Fields peaks(*answer); !peaks.empty();) result.peak_flops.push_back(peaks.number());
      return std::nullopt;
    }
    Loss loss = bury(seconds);
    if (loss.arm < 0) {
      throw std::runtime_error("the worker was lost while no arm was at work: " +
                               loss.attempt.reason);
    }
    return loss;
  }

  BenchOptions options_;
  Examination examination_;
  std::vector<FileDescriptor> memory_;  ///< one for each fill; outlives every worker
  std::size_t filled_ = 0;              ///< how many of them hold their fill and reference
  double reference_seconds_ = 0.0;
  std::optional<Examiner> local_;
  std::unique_ptr<WorkerProcess> worker_;
  Message stage_;  ///< the last one that the worker announced
  bool late_ = false;
  Patience patience_{options_.stop};
};

Bench::Bench(const Problem& problem, const Conditions& conditions, const BenchOptions& options)
    : client_(std::make_unique<Client>(problem, conditions, options)) {}

Bench::~Bench() = default;

Attempt Bench::attempt(const Arm& arm, const Sampling& sampling) {
  return client_->attempt(arm, sampling);
}

Attempt Bench::check(const Arm& arm) { return client_->check(arm); }

Counted Bench::count(const Arm& arm, double seconds) { return client_->count(arm, seconds); }

Rounds Bench::rounds(std::span<const Arm> arms, const RoundPlan& plan) {
  return client_->rounds(arms, plan);
}

}  // namespace loopbrick
