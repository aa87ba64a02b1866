#include "tuner/stored_wisdom.h"

#include "loops/schedule.h"

namespace loopbrick {

namespace {

WisdomEntry entry_of(const WisdomRecord& record) {
  return {.machine = record.machine,
          .build = record.build,
          .conditions = record.conditions,
          .problem = record.problem,
          .schedule = record.schedule,
          .seconds = record.seconds};
}

/// Problem and conditions as this build writes them, so that they are found again.
WisdomRecord record_of(const WisdomEntry& entry) {
  return {.machine = entry.machine,
          .build = entry.build,
          .conditions = to_string(parse_conditions(entry.conditions)),
          .problem = to_string(parse_problem(entry.problem)),
          .schedule = to_string(parse_schedule(entry.schedule)),
          .seconds = entry.seconds};
}

Wisdom imported(const Problem& problem, const Store& store) {
  Wisdom wisdom;
  for (const WisdomRecord& record : store.wisdom(to_string(problem)))
    wisdom.entries.push_back(entry_of(record));
  return wisdom;
}

}  // namespace

Wisdom confirmed_wisdom(const Store& store, const std::string& machine) {
  const Table best = store.query(
      "SELECT machine, build, conditions, problem, choice, median_s FROM best"
      " WHERE implementation = :ours AND (:machine IS NULL OR machine = :machine)"
      " ORDER BY machine, build, conditions, problem",
      {kOurs, machine});
  Wisdom wisdom;
  for (const auto& row : best.rows)
    wisdom.entries.push_back({.machine = *row[0],
                              .build = *row[1],
                              .conditions = *row[2],
                              .problem = *row[3],
                              .schedule = *row[4],
                              .seconds = std::stod(*row[5])});
  return wisdom;
}

std::vector<Judgement> keep_wisdom(const Wisdom& wisdom, const std::string& machine, Store& store) {
  std::vector<Judgement> judgements;
  std::vector<WisdomRecord> kept;
  for (const WisdomEntry& entry : wisdom.entries) {
    judgements.push_back(judge(entry, machine));
    if (judgements.back().fit != Fit::stale) kept.push_back(record_of(entry));
  }
  store.add_wisdom(kept);
  return judgements;
}

std::vector<std::string> imported_schedules(const TrialContext& context, const Store& store) {
  std::vector<std::string> schedules;
  for (const WisdomEntry& entry : matching(imported(context.problem, store), context.problem,
                                           context.station.machine.id, context.conditions))
    schedules.push_back(entry.schedule);
  return schedules;
}

std::optional<WisdomEntry> imported_choice(const TrialContext& context, const Store& store) {
  return advice(imported(context.problem, store), context.problem, context.station.machine.id,
                context.conditions);
}

}  // namespace loopbrick
