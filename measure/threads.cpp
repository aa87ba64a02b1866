#include "measure/threads.h"

#include <algorithm>
#include <fmt/format.h>
#include <immintrin.h>
#include <omp.h>

#include "measure/topology.h"

namespace loopbrick {
namespace {

/// About 10 ms on current CPUs: longer than any gap between the calls of a sample, short enough
/// that a waiting worker does not keep the tuner's core busy.
constexpr int kSpins = 1'000'000;

cpu_set_t own_affinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) CPU_ZERO(&set);
  return set;
}

bool may_pin() {
  const cpu_set_t set = own_affinity();
  return CPU_COUNT(&set) > 0 && sched_setaffinity(0, sizeof set, &set) == 0;
}

/// "{0},{2}": one place a thread, on different cores as far as they reach.
std::string places(int threads, const std::string& root) {
  std::vector<LogicalCpu> cpus = cores_first(allowed_cpus(root));
  cpus.resize(std::min(cpus.size(), static_cast<std::size_t>(threads)));
  std::string text;
  for (const LogicalCpu& cpu : cpus) {
    text += fmt::format("{}{{{}}}", text.empty() ? "" : ",", cpu.number);
  }
  return text;
}

std::string to_text(const cpu_set_t& set) {
  std::string text;
  for (int first = 0; first < CPU_SETSIZE; ++first) {
    if (!CPU_ISSET(first, &set)) continue;
    int last = first;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) ++last;
    text += text.empty() ? "" : ",";
    text += first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
    first = last;
  }
  return text.empty() ? "?" : text;
}

/// The affinity of each OpenMP thread, in their order.
std::vector<cpu_set_t> affinities(int threads) {
  std::vector<cpu_set_t> sets(static_cast<std::size_t>(threads));
#pragma omp parallel num_threads(threads)
  sets[static_cast<std::size_t>(omp_get_thread_num())] = own_affinity();
  return sets;
}

void set_affinities(const std::vector<cpu_set_t>& sets) {
#pragma omp parallel num_threads(static_cast <int>(sets.size()))
  {
    const cpu_set_t& set = sets[static_cast<std::size_t>(omp_get_thread_num())];
    sched_setaffinity(0, sizeof set, &set);
  }
}

bool is_free(const cpu_set_t& set) { return CPU_COUNT(&set) > 1; }

}  // namespace

std::vector<std::string> openmp_environment(int threads, const std::string& root) {
  std::vector<std::string> settings{fmt::format("OMP_NUM_THREADS={}", threads), "OMP_DYNAMIC=false",
                                    "OMP_WAIT_POLICY=active",
                                    fmt::format("GOMP_SPINCOUNT={}", kSpins)};
  if (may_pin()) {
    settings.emplace_back("OMP_PROC_BIND=close");
    settings.push_back(fmt::format("OMP_PLACES={}", places(threads, root)));
  }
  return settings;
}

std::string pinning(int threads) {
  std::string text;
  for (const cpu_set_t& set : affinities(threads)) {
    text += fmt::format("{}{}", text.empty() ? "" : " ", to_text(set));
  }
  return text;
}

void set_flush_denormals(int threads, bool on) {
  constexpr unsigned kFlushToZero = 0x8000;
  constexpr unsigned kDenormalsAreZero = 0x0040;
#pragma omp parallel num_threads(threads)
  {
    const unsigned kept = _mm_getcsr() & ~(kFlushToZero | kDenormalsAreZero);
    _mm_setcsr(on ? kept | kFlushToZero | kDenormalsAreZero : kept);
  }
}

PinnedThreads::PinnedThreads(int threads) {
  std::vector<cpu_set_t> sets = affinities(threads);
  if (!std::all_of(sets.begin(), sets.end(), is_free)) return;
  before_ = sets;
  const std::vector<LogicalCpu> cpus = cores_first(allowed_cpus());
  for (std::size_t thread = 0; thread < sets.size(); ++thread) {
    CPU_ZERO(&sets[thread]);
    CPU_SET(cpus[thread % cpus.size()].number, &sets[thread]);
  }
  set_affinities(sets);
}

PinnedThreads::~PinnedThreads() {
  if (!before_.empty()) set_affinities(before_);
}

}  // namespace loopbrick
