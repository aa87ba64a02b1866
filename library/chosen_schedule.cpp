#include "library/chosen_schedule.h"

#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "kernels/text.h"
#include "loops/wisdom.h"
#include "loops/wisdom_fit.h"
#include "measure/machine.h"
#include "measure/probes.h"
#include "problems/text_file.h"
#include "tuner/problem_space.h"
#include "tuner/ranking.h"

namespace loopbrick {

namespace {

constexpr std::uint64_t kSeed = 1;  // of the command line

Wisdom read_wisdom(const std::string& file) {
  const std::string text = read_text_file(file);
  try {
    return parse_wisdom(text);
  } catch (const ParseError& error) {
    throw ParseError("'" + file + "', " + error.what());
  }
}

std::optional<ChosenSchedule> advised(const Problem& problem, const Conditions& conditions,
                                      const std::string& file) {
  const std::string machine = detect_machine().id;
  const auto entry = advice(read_wisdom(file), problem, machine, conditions);
  if (!entry) return std::nullopt;
  const Judgement judgement = judge(*entry, machine, conditions);
  return ChosenSchedule{
      .schedule = entry->schedule,
      .origin = judgement.fit == Fit::exact ? "wisdom" : "wisdom, " + judgement.why,
      .seconds = entry->seconds};
}

/// Probing takes up to two seconds, and the machine stays the same: once in a process.
Limits limits_here(const Machine& machine, const Conditions& conditions) {
  static std::mutex mutex;
  static std::map<std::pair<int, Isa>, Limits> known;
  const std::lock_guard lock(mutex);
  const std::pair key{conditions.threads, conditions.isa};
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known.emplace(key, measure_limits(machine, conditions.threads, conditions.isa))
      .first->second;
}

ChosenSchedule modelled(const Problem& problem, const Conditions& conditions) {
  const Machine machine = detect_machine();
  // A problem without a space is refused before the machine is probed.
  const Space unprobed = problem_space(problem, conditions, machine, {});
  if (const auto refusal = unprobed.why_not({})) throw ParseError(to_string(*refusal));
  const Space space = problem_space(problem, conditions, machine, limits_here(machine, conditions));
  const std::vector<Ranked> ranked = ranking(space, kSeed);
  if (ranked.empty()) throw ParseError("no schedule can run " + to_string(problem));
  return {.schedule = space.text(ranked.front().point), .origin = "model"};
}

}  // namespace

ChosenSchedule choose_schedule(const Problem& problem, const Conditions& conditions,
                               const std::string& given, const std::string& wisdom) {
  if (!given.empty()) return {.schedule = given, .origin = "given"};
  if (!wisdom.empty()) {
    if (const auto found = advised(problem, conditions, wisdom)) return *found;
  }
  return modelled(problem, conditions);
}

}  // namespace loopbrick
