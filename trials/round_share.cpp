#include "trials/round_share.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "measure/threads.h"

namespace loopbrick {

RoundShare share_of(const RoundPlan& plan, int process) {
  const int processes = std::max(1, plan.processes);
  const int each = plan.rounds / processes;
  const int longer = plan.rounds % processes;  // the first so many have one round more
  return {.first = process * each + std::min(process, longer),
          .count = each + (process < longer ? 1 : 0),
          .process = process,
          .sample_seconds = plan.sample_seconds,
          .seed = plan.seed};
}

void merge(Attempt&& part, Attempt& whole) {
  std::vector<Sample> samples = std::move(whole.samples);
  samples.insert(samples.end(), part.samples.begin(), part.samples.end());
  whole = std::move(part);
  whole.samples = std::move(samples);
  if (whole.outcome != "ok") whole.samples.clear();
}

std::vector<std::size_t> order_of_round(std::size_t count, std::uint64_t seed, int round) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::seed_seq mixed{seed, seed >> 32, static_cast<std::uint64_t>(round)};
  std::mt19937_64 random(mixed);
  for (std::size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[random() % left]);
  }
  return order;
}

std::vector<std::string> settings_for(const Conditions& conditions) {
  std::vector<std::string> settings = openmp_environment(conditions.threads);
  if (conditions.pages == Pages::huge) {
    settings.emplace_back("GLIBC_TUNABLES=glibc.malloc.hugetlb=1");  // malloc asks for huge pages
  }
  return settings;
}

}  // namespace loopbrick
