#include "cli/sides.h"

#include <filesystem>

#include "cli/measuring_run.h"

namespace loopbrick {
namespace {

constexpr double kCountedSeconds = 0.2;

std::optional<ScheduleCosts> known_costs(const TrialContext& context, const Arm& arm) {
  if (arm.implementation != kOurs) return std::nullopt;
  return costs_of({.problem = context.problem,
                   .schedule = parse_schedule(arm.choice),
                   .conditions = context.conditions},
                  context.station.machine, context.station.limits);
}

std::optional<TrialRecord> stored_trial(const SidesRequest& request, const Arm& arm) {
  if (!std::filesystem::exists(request.database)) return std::nullopt;
  Store::Key key = key_of(request.context, false);
  key.implementation = arm.implementation;
  for (const TrialRecord& trial : Store(request.database, Access::read).trials(key)) {
    if (trial.choice == arm.choice && trial.outcome == "ok") return trial;
  }
  return std::nullopt;
}

void count_all(const SidesRequest& request, std::vector<Side>& sides) {
  const auto lock = take_lock(request.no_lock);
  Bench bench(request.context.problem, request.context.conditions, {});
  for (Side& side : sides) side.counted = bench.count(side.arm, kCountedSeconds);
}

}  // namespace

std::vector<Side> find_sides(const SidesRequest& request) {
  std::vector<Side> sides;
  for (const Arm& arm : request.arms) {
    sides.push_back({.arm = arm,
                     .costs = known_costs(request.context, arm),
                     .stored = stored_trial(request, arm)});
  }
  if (request.has_counters) count_all(request, sides);
  return sides;
}

}  // namespace loopbrick
