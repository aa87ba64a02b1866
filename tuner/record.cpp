#include "tuner/record.h"

#include <algorithm>
#include <set>

#include "measure/statistics.h"

namespace loopbrick {

namespace {

constexpr double kLevel = 0.99;
constexpr std::uint64_t kBootstrapSeed = 1;

}  // namespace

Measured summarize(const std::vector<Sample>& samples) {
  Measured result;
  if (samples.empty()) return result;
  std::vector<double> seconds;
  std::set<int> processes;
  for (const Sample& sample : samples) {
    seconds.push_back(sample.seconds);
    processes.insert(sample.process);
  }
  const Interval interval = bootstrap_median(seconds, kLevel, kBootstrapSeed);
  result.n = static_cast<int>(seconds.size());
  result.median = median(seconds);
  result.lo = interval.lo;
  result.hi = interval.hi;
  result.min = *std::min_element(seconds.begin(), seconds.end());
  result.processes = static_cast<int>(processes.size());
  return result;
}

std::vector<TimedSample> timed_samples(const std::vector<Sample>& samples, bool confirming) {
  std::vector<TimedSample> timed;
  for (const Sample& sample : samples) {
    timed.push_back({.start = sample.start,
                     .seconds = sample.seconds,
                     .calls = sample.calls,
                     .round = sample.round,
                     .process = sample.process,
                     .order = sample.order,
                     .confirming = confirming});
  }
  return timed;
}

TrialRecord trial_record(const TrialContext& context, const Arm& arm, const Attempt& attempt,
                         bool confirming) {
  TrialRecord record;
  record.campaign = context.station.campaign;
  record.problem = to_string(context.problem);
  record.implementation = arm.implementation;
  record.choice = arm.choice;
  record.machine = context.station.machine.id;
  record.conditions = to_string(context.conditions);
  record.build = context.station.build;
  record.outcome = attempt.outcome;
  record.reason = attempt.reason;
  (confirming ? record.confirmed : record.search) = summarize(attempt.samples);
  record.flops = flops(context.problem);
  record.executed_flops = attempt.executed_flops;
  record.prepare_seconds = attempt.prepare_seconds;
  record.workspace_bytes = attempt.workspace_bytes;
  record.ran = attempt.ran;
  record.included = attempt.included;
  record.flag = attempt.flag;
  record.version = attempt.version;
  record.volatile_facts = attempt.facts;
  record.samples = timed_samples(attempt.samples, confirming);
  return record;
}

Store::Key key_of(const TrialContext& context, bool any_build) {
  return {.problem = to_string(context.problem),
          .implementation = kOurs,
          .machine = context.station.machine.id,
          .conditions = to_string(context.conditions),
          .build = any_build ? std::string() : context.station.build};
}

}  // namespace loopbrick
