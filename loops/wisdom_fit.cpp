#include "loops/wisdom_fit.h"

#include <algorithm>
#include <fmt/format.h>

#include "kernels/text.h"
#include "loops/plan.h"

namespace loopbrick {

namespace {

/// The last word of a build's text, "gen1".
std::string generator_of(const std::string& build) {
  return build.substr(build.find_last_of(' ') + 1);
}

std::string own_generator() { return fmt::format("gen{}", kGeneratorVersion); }

Judgement stale(std::string why) { return {.fit = Fit::stale, .why = std::move(why)}; }

/// Files are written by hand too; empty if it can't be read.
std::string canonical(const std::string& problem) {
  try {
    return to_string(parse_problem(problem));
  } catch (const ParseError&) {
    return {};
  }
}

/// Everything that may make the entry's time another one here.
Judgement compared(const WisdomEntry& entry, std::string_view machine,
                   const Conditions& conditions) {
  Judgement result;
  const auto differs = [&result](const std::string& what) {
    result.fit = Fit::near;
    result.why += (result.why.empty() ? "" : "; ") + what;
    ++result.differences;
  };
  if (entry.machine != machine) differs("measured on " + entry.machine);
  if (generator_of(entry.build) != own_generator())
    differs(fmt::format("measured with the kernels of {}, these are of {}",
                        generator_of(entry.build), own_generator()));
  if (parse_conditions(entry.conditions) != conditions)
    differs(fmt::format("measured under {}, here {}", entry.conditions, to_string(conditions)));
  return result;
}

}  // namespace

std::string_view to_string(Fit fit) {
  return fit == Fit::exact ? "exact" : fit == Fit::near ? "near" : "stale";
}

Judgement judge(const WisdomEntry& entry, std::string_view machine, const Conditions& conditions) {
  try {
    const Judgement result = compared(entry, machine, conditions);
    const Problem problem = parse_problem(entry.problem);
    if (const auto no = why_not(problem, parse_schedule(entry.schedule), conditions))
      return stale("refused under " + to_string(conditions) + ": " + to_string(*no));
    return result;
  } catch (const ParseError& error) {
    return stale(std::string("not read: ") + error.what());
  }
}

Judgement judge(const WisdomEntry& entry, std::string_view machine) {
  try {
    Conditions conditions = parse_conditions(entry.conditions);
    conditions.isa = std::min(conditions.isa, best_isa());
    return judge(entry, machine, conditions);
  } catch (const ParseError& error) {
    return stale(std::string("not read: ") + error.what());
  }
}

std::vector<WisdomEntry> matching(const Wisdom& wisdom, const Problem& problem,
                                  std::string_view machine, const Conditions& conditions) {
  struct Match {
    const WisdomEntry* entry;
    int differences;
  };
  std::vector<Match> matches;
  const std::string text = to_string(problem);
  for (const WisdomEntry& entry : wisdom.entries) {
    if (canonical(entry.problem) != text) continue;
    const Judgement found = judge(entry, machine, conditions);
    if (found.fit != Fit::stale) matches.push_back({&entry, found.differences});
  }
  std::stable_sort(matches.begin(), matches.end(), [](const Match& left, const Match& right) {
    if (left.differences != right.differences) return left.differences < right.differences;
    return left.entry->seconds < right.entry->seconds;
  });
  std::vector<WisdomEntry> entries;
  for (const Match& match : matches) entries.push_back(*match.entry);
  return entries;
}

std::optional<WisdomEntry> advice(const Wisdom& wisdom, const Problem& problem,
                                  std::string_view machine, const Conditions& conditions) {
  for (const WisdomEntry& entry : matching(wisdom, problem, machine, conditions)) {
    if (parse_conditions(entry.conditions).threads == conditions.threads) return entry;
  }
  return std::nullopt;
}

}  // namespace loopbrick
