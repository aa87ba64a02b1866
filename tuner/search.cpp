#include "tuner/search.h"

#include <algorithm>
#include <set>

namespace loopbrick {

namespace {

/// The question as a time limit for the evaluator: single calls only, or samples too.
Sampling sampling_for(const Ask& ask, Sampling sampling) {
  if (ask.fidelity == Fidelity::screen) sampling.samples = 0;
  sampling.give_up_above = ask.give_up_above;
  return sampling;
}

Candidate evaluated(const Ask& ask, const std::string& choice, const Attempt& attempt) {
  Candidate candidate{.point = ask.point, .choice = choice, .fidelity = ask.fidelity};
  candidate.ok = attempt.outcome == "ok" && !attempt.samples.empty();
  if (!candidate.ok) return candidate;
  const auto is_faster = [](const Sample& left, const Sample& right) {
    return left.seconds < right.seconds;
  };
  candidate.seconds =
      std::min_element(attempt.samples.begin(), attempt.samples.end(), is_faster)->seconds;
  return candidate;
}

Seen seen(const Candidate& candidate) {
  return {.point = candidate.point,
          .fidelity = candidate.fidelity,
          .ok = candidate.ok,
          .seconds = candidate.seconds};
}

}  // namespace

bool is_measurement(std::size_t samples, const Sampling& sampling) {
  return samples > static_cast<std::size_t>(sampling.least_calls);
}

namespace {

/// One answered question, from memory or from the evaluator; nothing if the search may not go on.
std::optional<Candidate> answered(const Ask& ask, const Space& space, const Sampling& sampling,
                                  const SearchTools& tools) {
  const std::string choice = space.text(ask.point);
  if (tools.recall) {
    if (std::optional<Candidate> candidate = tools.recall(choice, ask)) {
      candidate->point = ask.point;
      candidate->choice = choice;
      candidate->fidelity = ask.fidelity;
      return candidate;
    }
  }
  if (!tools.go_on()) return std::nullopt;
  const bool is_cut = tools.screen && ask.fidelity == Fidelity::screen;
  const double scale = is_cut ? tools.screen_scale() : 1.0;
  Sampling limit = sampling_for(ask, sampling);
  limit.give_up_above /= scale;
  const Attempt attempt = (is_cut ? tools.screen : tools.evaluate)(choice, limit);
  Candidate candidate = evaluated(ask, choice, attempt);
  candidate.seconds *= scale;
  candidate.trial = tools.keep(candidate, attempt);
  return candidate;
}

}  // namespace

std::vector<Candidate> search(const Space& space, const Strategy& strategy,
                              const Sampling& sampling, const SearchTools& tools) {
  std::vector<Candidate> candidates;
  std::vector<Seen> history;
  const auto add = [&](const Candidate& candidate) {
    candidates.push_back(candidate);
    history.push_back(seen(candidate));
  };
  std::optional<Ask> ask = strategy(history);
  while (ask) {
    const std::optional<Candidate> candidate = answered(*ask, space, sampling, tools);
    if (candidate) add(*candidate);
    if (candidates.size() <= 1) {
      for (const Candidate& known : tools.known) {
        if (known.point != ask->point) add(known);
      }
    }
    if (!candidate) break;
    ask = strategy(history);
  }
  return candidates;
}

std::vector<Candidate> fastest(const std::vector<Candidate>& candidates, std::size_t most) {
  std::vector<Candidate> sorted;
  for (const Fidelity fidelity : {Fidelity::measure, Fidelity::screen}) {
    for (const Candidate& candidate : candidates) {
      if (candidate.ok && candidate.fidelity == fidelity) sorted.push_back(candidate);
    }
    if (!sorted.empty()) break;
  }
  std::stable_sort(sorted.begin(), sorted.end(), [](const Candidate& left, const Candidate& right) {
    if (left.seconds != right.seconds) return left.seconds < right.seconds;
    return left.choice < right.choice;
  });
  std::vector<Candidate> chosen;
  std::set<std::string> choices;
  for (const Candidate& candidate : sorted) {
    if (chosen.size() == most) break;
    if (choices.insert(candidate.choice).second) chosen.push_back(candidate);
  }
  return chosen;
}

}  // namespace loopbrick
