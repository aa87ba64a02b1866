#include "trials/examiner.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <set>

#include "kernels/text.h"
#include "measure/counters.h"
#include "measure/machine.h"
#include "measure/probes.h"
#include "measure/sampler.h"
#include "measure/surroundings.h"
#include "measure/threads.h"
#include "trials/contestant.h"
#include "trials/round_share.h"

namespace loopbrick {
namespace {

constexpr double kPeakSeconds = 2e-3;

/// Sets of operands that a call rotates through: cold ones exceed the last-level cache twice.
int copies_for(const Problem& problem, const Conditions& conditions) {
  constexpr std::int64_t kMost = 4096;  // tiny problems would spend their time being prepared
  if (conditions.cache == CacheState::warm) return 1;
  const std::int64_t cold_bytes = 2 * detect_machine().l3_bytes;
  return static_cast<int>(
      std::min(kMost, cold_bytes / std::max<std::int64_t>(1, total_bytes(problem)) + 1));
}

void poison_outputs(const Problem& problem, const Arrays& arrays) {
  const std::vector<Operand> all = operands(problem);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].output) continue;
    std::fill(arrays[i].begin(), arrays[i].end(), std::numeric_limits<float>::quiet_NaN());
  }
}

/// Runs `piece`; a Failed in it becomes the contestant's outcome and costs it its samples.
template <typename Piece>
void settle(Contestant& contestant, const Piece& piece) {
  try {
    piece();
  } catch (const Failed& failed) {
    contestant.attempt.outcome = failed.outcome;
    contestant.attempt.reason = failed.reason;
    contestant.attempt.samples.clear();
    contestant.release();
  }
}

/// Touches pages and wakes the threads: after it, calls cost what they cost.
void warm_up(Contestant& contestant) {
  for (int copy = 0; copy < contestant.copies(); ++copy) contestant.call();
}

SamplerOptions options_of(const Sampling& sampling) {
  return {.least_calls = sampling.least_calls,
          .samples = sampling.samples,
          .sample_seconds = sampling.sample_seconds,
          .give_up_above = sampling.give_up_above};
}

Sample to_sample(const Stretch& stretch) {
  return {.start = stretch.start, .seconds = stretch.seconds_per_call, .calls = stretch.calls};
}

/// The samples of one arm alone: each is a round of its own.
std::vector<Sample> to_samples(const std::vector<Stretch>& stretches) {
  std::vector<Sample> samples;
  for (const Stretch& stretch : stretches) {
    samples.push_back(to_sample(stretch));
    samples.back().round = static_cast<int>(samples.size()) - 1;
  }
  return samples;
}

/// Calls that fill one sample, from the fastest of three.
int calibrate(Contestant& contestant, double sample_seconds) {
  const auto call = [&] { contestant.call(); };
  const std::vector<Stretch> singles = measure(call, {.least_calls = 3, .samples = 0});
  double fastest = singles.front().seconds_per_call;
  for (const Stretch& single : singles) fastest = std::min(fastest, single.seconds_per_call);
  return calls_for(fastest, sample_seconds);
}

/// The arms that still take part, in the random order of one round.
std::vector<std::size_t> order_of_ok(const std::vector<Contestant>& contestants, std::uint64_t seed,
                                     int round) {
  std::vector<std::size_t> ok, order;
  for (std::size_t i = 0; i < contestants.size(); ++i) {
    if (contestants[i].is_ok()) ok.push_back(i);
  }
  for (const std::size_t place : order_of_round(ok.size(), seed, round)) order.push_back(ok[place]);
  return order;
}

}  // namespace

Examiner::Examiner(Examination examination, Find find)
    : examination_(std::move(examination)),
      find_(std::move(find)),
      mapped_(examination_.memory.size()),
      copies_(copies_for(examination_.problem, examination_.conditions)) {
  const Arrays inputs(operands(examination_.problem).size());
  outputs_ = map_outputs(examination_.problem, inputs);
  set_flush_denormals(examination_.conditions.threads, examination_.conditions.flush_denormals);
}

double Examiner::fill(std::size_t index) {
  const FilledMemory& memory = examination_.memory[index];
  const int threads = examination_.conditions.threads;
  const MappedArrays mapped = map_operands(examination_.problem, memory.descriptor, true);
  set_flush_denormals(threads, false);  // the reference computes with what it is given
  loopbrick::fill(examination_.problem, memory.fill, examination_.seed, mapped.arrays);
  const auto start = steady_now();
  reference(examination_.problem, mapped.arrays, threads);
  const auto end = steady_now();
  set_flush_denormals(threads, examination_.conditions.flush_denormals);
  return std::chrono::duration<double>(end - start).count();
}

const MappedArrays& Examiner::operands_of(std::size_t index) {
  MappedArrays& mapped = mapped_[index];
  if (mapped.arrays.empty()) {
    mapped = map_operands(examination_.problem, examination_.memory[index].descriptor, false);
  }
  return mapped;
}

void Examiner::compare_with_reference(Contestant& contestant, std::size_t index) {
  const Problem& problem = examination_.problem;
  const Fill kind = examination_.memory[index].fill;
  poison_outputs(problem, outputs_.arrays);
  contestant.unload(outputs_.arrays);
  contestant.announce("compare");
  const std::vector<Mismatch> wrong =
      compare(problem, kind, outputs_.arrays, operands_of(index).arrays);
  if (wrong.empty()) return;
  throw Failed{"wrong_result",
               fmt::format("{} (fill {})", to_string(wrong.front(), problem), to_string(kind))};
}

const Arrays& Examiner::arrays_to_load(std::size_t index) {
  const Arrays& given = operands_of(index).arrays;
  const std::vector<Operand> all = operands(examination_.problem);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].output) outputs_.arrays[i] = given[i];
  }
  poison_outputs(examination_.problem, outputs_.arrays);
  return outputs_.arrays;
}

/// Two calls before the one comparison: adding to the old result instead of overwriting it shows.
void Examiner::verify_fill(Contestant& contestant, std::size_t index) {
  contestant.load(arrays_to_load(index));
  contestant.announce("run");
  contestant.call();
  contestant.call();
  compare_with_reference(contestant, index);
}

void Examiner::prepare(Contestant& contestant, int copies) {
  contestant.prepare(examination_.problem, examination_.conditions, copies);
  if (!examination_.has_perf_map) return;
  for (const auto& kernel : contestant.kernels()) {
    if (!perf_map_) perf_map_.emplace();
    perf_map_->add(*kernel);
  }
}

void Examiner::verify(Contestant& contestant, int copies) {
  prepare(contestant, copies);
  for (std::size_t index = 0; index < mapped_.size(); ++index) verify_fill(contestant, index);
}

Attempt Examiner::check(const Arm& arm, const Announce& announce) {
  Contestant contestant(arm, 0, find_, announce);
  settle(contestant, [&] { verify(contestant, 1); });
  return std::move(contestant.attempt);
}

Attempt Examiner::attempt(const Arm& arm, const Sampling& sampling, const Announce& announce) {
  Contestant contestant(arm, 0, find_, announce);
  const Disturbances before = disturbances();
  settle(contestant, [&] {
    verify(contestant, copies_);
    contestant.announce("time");
    warm_up(contestant);
    contestant.attempt.samples =
        to_samples(measure([&] { contestant.call(); }, options_of(sampling)));
  });
  if (contestant.is_ok() && sampling.samples > 0) {
    contestant.attempt.facts = surroundings(before, examination_.conditions.threads);
  }
  return std::move(contestant.attempt);
}

Counted Examiner::count(const Arm& arm, double seconds, const Announce& announce) {
  Contestant contestant(arm, 0, find_, announce);
  std::vector<Reading> readings;
  settle(contestant, [&] {
    make_ready_for_rounds(contestant, seconds);
    Counters counters(hardware_events());  // its threads are there by now
    counters.start();
    const Stretch timed = time_calls([&] { contestant.call(); }, contestant.calls);
    readings = counters.stop();
    for (Reading& reading : readings) {
      if (reading.count) *reading.count /= timed.calls;
    }
    contestant.attempt.samples = to_samples({timed});
  });
  return {.attempt = std::move(contestant.attempt), .readings = std::move(readings)};
}

bool Examiner::fit_together(std::span<const Arm> arms) const {
  constexpr std::int64_t kAlwaysFine = 200 << 20;
  std::int64_t sets = 0;
  std::set<std::string> sharing;
  for (const Arm& arm : arms) {
    const Implementation* const row = find_(arm.implementation);
    const bool shares = copies_ == 1 && row != nullptr && row->shares_operands;
    if (!shares || sharing.insert(arm.implementation).second) ++sets;
  }
  const std::int64_t tensors = total_bytes(examination_.problem);
  const std::int64_t all = saturating_product(saturating_product(sets, copies_), tensors);
  return all <= saturating_sum(tensors, kAlwaysFine);
}

void Examiner::make_ready_for_rounds(Contestant& contestant, double sample_seconds) {
  verify(contestant, copies_);
  contestant.announce("time");
  warm_up(contestant);
  contestant.calls = calibrate(contestant, sample_seconds);
}

Sample Examiner::take_sample(Contestant& contestant) {
  if (!contestant.is_ready()) {
    prepare(contestant, copies_);
    contestant.load(arrays_to_load(examination_.memory.size() - 1));
  }
  contestant.announce("time");
  contestant.call();  // brings back what the other arms evicted
  return to_sample(time_calls([&] { contestant.call(); }, contestant.calls));
}

void Examiner::run_round(std::vector<Contestant>& contestants, const RoundShare& share, int round,
                         bool together) {
  int order = 0;
  for (const std::size_t i : order_of_ok(contestants, share.seed, round)) {
    Contestant& contestant = contestants[i];
    settle(contestant, [&] {
      Sample sample = take_sample(contestant);
      sample.round = round;
      sample.process = share.process;
      sample.order = order;
      contestant.attempt.samples.push_back(sample);
    });
    if (!together) contestant.release();
    ++order;
  }
}

Rounds Examiner::rounds(std::span<const Arm> arms, const RoundShare& share,
                        const Announce& announce) {
  const bool together = fit_together(arms);
  std::vector<Contestant> contestants;
  for (const Arm& arm : arms) {
    const int index = static_cast<int>(contestants.size());
    Contestant& contestant = contestants.emplace_back(arm, index, find_, announce);
    settle(contestant, [&] { make_ready_for_rounds(contestant, share.sample_seconds); });
    if (!together) contestant.release();
  }

  Rounds result;
  const Isa isa = std::min(examination_.conditions.isa, best_isa());
  const Disturbances before = disturbances();
  for (int round = share.first; round < share.first + share.count; ++round) {
    run_round(contestants, share, round, together);
    announce(-1, "peak");
    result.peak_flops.push_back(peak_probe(examination_.conditions.threads, isa, kPeakSeconds));
  }
  const std::string facts = surroundings(before, examination_.conditions.threads);
  for (Contestant& contestant : contestants) {
    if (contestant.is_ok()) contestant.attempt.facts = facts;
    result.arms.push_back(std::move(contestant.attempt));
  }
  return result;
}

}  // namespace loopbrick
