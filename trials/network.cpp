#include "trials/network.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <stdexcept>

#include "kernels/text.h"
#include "measure/probes.h"
#include "measure/quota.h"
#include "measure/sampler.h"
#include "measure/threads.h"
#include "trials/attempt_text.h"
#include "trials/implementations.h"
#include "trials/network_pass.h"
#include "trials/network_request.h"
#include "trials/patience.h"
#include "trials/round_share.h"
#include "trials/worker_process.h"

namespace loopbrick {
namespace {

constexpr double kPeakSeconds = 2e-3;
constexpr double kLongestStage = 600.0;  ///< seconds without a word from the worker

/// One way in the rounds of one process.
struct Racer {
  std::unique_ptr<NetworkPass> pass;  ///< none: it failed
  int calls = 1;
  Attempt attempt;
};

/// Runs `piece`; a Failed in it becomes the racer's outcome.
template <typename Piece>
void settle(Racer& racer, const Piece& piece) {
  try {
    piece();
  } catch (const Failed& failed) {
    racer.attempt.outcome = failed.outcome;
    racer.attempt.reason = failed.reason;
    racer.attempt.samples.clear();
    racer.pass.reset();
  }
}

int calibrate(NetworkPass& pass, double sample_seconds) {
  pass.run();
  const Stretch one = time_calls([&pass] { pass.run(); }, 1);
  return calls_for(one.seconds_per_call, sample_seconds);
}

void take_sample(Racer& racer, const RoundShare& share, int round, int order) {
  const Stretch stretch = time_calls([&racer] { racer.pass->run(); }, racer.calls);
  racer.attempt.samples.push_back({.start = stretch.start,
                                   .seconds = stretch.seconds_per_call,
                                   .calls = stretch.calls,
                                   .round = round,
                                   .process = share.process,
                                   .order = order});
}

/// Bytes of all operands of one way, each run of a layer with its own.
std::int64_t operand_bytes(const Network& network) {
  std::int64_t bytes = 0;
  for (const NetworkLayer& layer : network.layers)
    bytes = saturating_sum(bytes, saturating_product(layer.count, total_bytes(layer.problem)));
  return bytes;
}

void require_memory(const Network& network, std::size_t ways) {
  const std::int64_t needed =
      saturating_product(static_cast<std::int64_t>(ways), operand_bytes(network));
  const auto available = available_memory();
  if (!available || needed <= *available) return;
  throw NoMemory(
      fmt::format("a network of {} layers needs {:.1f} GiB of memory for {} implementations, "
                  "{:.1f} GiB are free",
                  network.layers.size(), static_cast<double>(needed) / (1 << 30), ways,
                  static_cast<double>(*available) / (1 << 30)));
}

/// What a worker answers: the attempts of all ways, then the peaks.
Rounds receive(WorkerProcess& worker, Patience& patience) {
  Rounds part;
  std::string stage = "start";
  while (true) {
    Message message;
    const Channel::Got got =
        patience.receive(worker.channel(), message, deadline_in(kLongestStage));
    if (got == Channel::Got::late)
      throw std::runtime_error(fmt::format("the worker hangs in '{}' of a network", stage));
    if (got == Channel::Got::closed)
      throw std::runtime_error(fmt::format("the worker was lost in '{}' of a network: {}", stage,
                                           worker.cause_of_death()));
    if (message.verb == "failed")
      throw std::runtime_error("the worker failed: " + Fields(message).text());
    if (message.verb == "stage") {
      stage = message.fields.back();
    } else if (message.verb == "attempt") {
      part.arms.push_back(read_attempt(message));
    } else {
      for (Fields peaks(message); !peaks.empty();) part.peak_flops.push_back(peaks.number());
      return part;
    }
  }
}

Rounds ask_worker(const NetworkRequest& request, const BenchOptions& options, Patience& patience) {
  WorkerProcess worker({.program = options.program,
                        .environment = worker_environment(settings_for(request.network.conditions),
                                                          options.keep_environment),
                        .inherited = {}});
  worker.channel().send(network_request(request));
  return receive(worker, patience);
}

}  // namespace

Rounds time_network_here(const Network& network, std::span<const NetworkArms> ways,
                         const RoundShare& share, const Find& find, const Announce& announce) {
  const Conditions& conditions = network.conditions;
  set_flush_denormals(conditions.threads, conditions.flush_denormals);
  std::vector<Racer> racers(ways.size());
  for (std::size_t i = 0; i < ways.size(); ++i) {
    settle(racers[i], [&] {
      racers[i].pass =
          std::make_unique<NetworkPass>(network, ways[i], static_cast<int>(i), find, announce);
      announce(static_cast<int>(i), "time");
      racers[i].calls = calibrate(*racers[i].pass, share.sample_seconds);
    });
  }
  Rounds result;
  const Isa isa = std::min(conditions.isa, best_isa());
  for (int round = share.first; round < share.first + share.count; ++round) {
    int order = 0;
    for (const std::size_t i : order_of_round(ways.size(), share.seed, round)) {
      if (racers[i].pass == nullptr) continue;
      announce(static_cast<int>(i), "time");
      settle(racers[i], [&] { take_sample(racers[i], share, round, order++); });
    }
    announce(-1, "peak");
    result.peak_flops.push_back(peak_probe(conditions.threads, isa, kPeakSeconds));
  }
  for (Racer& racer : racers) result.arms.push_back(std::move(racer.attempt));
  return result;
}

Rounds time_network(const Network& network, std::span<const NetworkArms> ways,
                    const RoundPlan& plan, const BenchOptions& options) {
  require_memory(network, ways.size());
  Rounds all;
  all.arms.resize(ways.size());
  Patience patience(options.stop);
  for (int process = 0; process < std::max(1, plan.processes); ++process) {
    all.stopped = plan.stop != nullptr && plan.stop->load();
    if (all.stopped) break;
    const RoundShare share = share_of(plan, process);
    if (share.count == 0) continue;
    Rounds part;
    try {
      part = options.in_process
                 ? time_network_here(network, ways, share, find_implementation,
                                     [](int, std::string_view) {})
                 : ask_worker({network, {ways.begin(), ways.end()}, share}, options, patience);
    } catch (const Stopped&) {
      all.stopped = true;
      break;
    }
    for (std::size_t i = 0; i < ways.size(); ++i) merge(std::move(part.arms.at(i)), all.arms[i]);
    all.peak_flops.insert(all.peak_flops.end(), part.peak_flops.begin(), part.peak_flops.end());
  }
  return all;
}

}  // namespace loopbrick
