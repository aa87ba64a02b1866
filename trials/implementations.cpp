#include "trials/implementations.h"

#include <vector>

#include "baselines/baselines.h"
#include "loops/plan.h"
#include "trials/slowed.h"

namespace loopbrick {
namespace {

std::variant<Runnable, Refusal> prepare_slowed(const Problem& problem, std::string_view choice,
                                               const Conditions& conditions) {
  const SlowedChoice slowed = parse_slowed_choice(choice);
  const Implementation* const inner = find_implementation(slowed.implementation);
  if (inner == nullptr) return Refusal{.sentence = "the implementation to slow down is not here"};
  std::variant<Runnable, Refusal> prepared = inner->prepare(problem, slowed.choice, conditions);
  if (auto* const runnable = std::get_if<Runnable>(&prepared)) {
    return slow_down(std::move(*runnable), slowed.fraction);
  }
  return prepared;
}

/// No contestant: it shows that a slow-down of known size is seen.
constexpr Implementation kSlowed{
    .name = "slowed",
    .sentence = "control: runs another implementation and then waits ('3% loopbrick N k64 ...')",
    .version = [] { return std::string("1"); },
    .prepare = prepare_slowed};

std::vector<Implementation> all_rows() {
  std::vector<Implementation> rows{kLoopbrick};
  const std::span<const Implementation> others = baselines();
  rows.insert(rows.end(), others.begin(), others.end());
  rows.push_back(kSlowed);
  return rows;
}

}  // namespace

std::span<const Implementation> implementations() {
  static const std::vector<Implementation> rows = all_rows();
  return rows;
}

const Implementation* find_implementation(std::string_view name) {
  for (const Implementation* const own : {&kLoopbrick, &kSlowed}) {
    if (own->name == name) return own;
  }
  for (const Implementation& row : implementations()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace loopbrick
