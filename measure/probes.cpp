#include "measure/probes.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <omp.h>
#include <vector>

#include "measure/quota.h"
#include "measure/register_loops.h"
#include "measure/statistics.h"
#include "measure/surroundings.h"
#include "measure/threads.h"

namespace loopbrick {
namespace {

using Steady = std::chrono::steady_clock;

double seconds_since(Steady::time_point start) {
  return std::chrono::duration<double>(Steady::now() - start).count();
}

/// Repeats `piece` for `seconds` and returns pieces a second.
template <typename Piece>
double pieces_per_second(const Piece& piece, double seconds) {
  std::int64_t pieces = 0;
  double elapsed = 0.0;
  const auto start = Steady::now();
  do {
    piece();
    ++pieces;
    elapsed = seconds_since(start);
  } while (elapsed < seconds);
  return static_cast<double>(pieces) / elapsed;
}

/// One rate a thread, taken by all threads at once.
std::vector<double> rates(int threads, const std::function<double(int)>& rate) {
  std::vector<double> all(static_cast<std::size_t>(threads));
#pragma omp parallel num_threads(threads)
  {
    const int thread = omp_get_thread_num();
#pragma omp barrier
    all[static_cast<std::size_t>(thread)] = rate(thread);
  }
  return all;
}

double sum(const std::vector<double>& values) {
  double total = 0.0;
  for (const double value : values) total += value;
  return total;
}

/// Work a second of a register loop on the calling thread.
double loop_rate(const RegisterLoop& loop, double seconds) {
  constexpr std::int64_t kRounds = 5000;  // about 10 us: reading the clock is lost in it
  return pieces_per_second([&] { loop.run(kRounds); }, seconds) * kRounds * loop.work_per_round;
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Buffer = std::unique_ptr<void, Free>;

/// One untouched buffer a thread: whoever writes it first gets the pages near.
std::vector<Buffer> make_buffers(int threads, std::int64_t bytes) {
  constexpr std::size_t kPage = 4096;
  const std::size_t size = (static_cast<std::size_t>(bytes) + kPage - 1) / kPage * kPage;
  std::vector<Buffer> buffers;
  for (int thread = 0; thread < threads; ++thread) {
    buffers.emplace_back(std::aligned_alloc(kPage, size));
    if (!buffers.back()) throw std::bad_alloc();
  }
  return buffers;
}

std::int64_t whole_grains(std::int64_t bytes) {
  return std::max(kReadGrain, bytes / kReadGrain * kReadGrain);
}

/// Bytes a second that the calling thread reads of `buffer`, which it fills first.
double read_rate(Isa isa, void* buffer, std::int64_t bytes, double seconds) {
  constexpr std::int64_t kLeastPiece = 256 * 1024;  // some us: reading the clock is lost in it
  std::memset(buffer, 0, static_cast<std::size_t>(bytes));
  const ReadLoop read = read_loop(isa);
  const std::int64_t repeats = std::max<std::int64_t>(1, kLeastPiece / bytes);
  const auto piece = [&] {
    for (std::int64_t i = 0; i < repeats; ++i) read(buffer, bytes);
  };
  piece();
  return pieces_per_second(piece, seconds) * static_cast<double>(repeats * bytes);
}

/// One thread's part of the last-level cache, half filled, but not what fits in its L2.
std::int64_t l3_part(const Machine& machine, int threads) {
  return std::max(machine.l3_bytes / 2 / threads, 2 * machine.l2_bytes);
}

/// Together several times the last-level cache, within a quarter of the memory that is free.
std::int64_t dram_part(const Machine& machine, int threads) {
  constexpr std::int64_t kLeast = 16 << 20;
  constexpr std::int64_t kMost = 256 << 20;
  const std::int64_t wanted =
      std::clamp(4 * machine.l3_bytes / std::min(threads, 8), kLeast, kMost);
  const std::int64_t free = available_memory().value_or(4 * threads * kLeast) / 4 / threads;
  return std::max<std::int64_t>(1 << 20, std::min(wanted, free));
}

double best_peak(int threads, Isa isa) {
  double best = 0.0;
  for (int i = 0; i < 5; ++i) best = std::max(best, peak_probe(threads, isa, 15e-3));
  return best;
}

double barrier_seconds(int threads) {
  constexpr int kBarriers = 2000;
  const auto start = Steady::now();
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < kBarriers; ++i) {
#pragma omp barrier
  }
  return seconds_since(start) / kBarriers;
}

double fork_seconds(int threads) {
  constexpr int kRegions = 2000;
  const auto start = Steady::now();
  for (int i = 0; i < kRegions; ++i) {
#pragma omp parallel num_threads(threads)
    asm volatile("" ::: "memory");
  }
  return seconds_since(start) / kRegions;
}

/// A job that computes and reads its L2 as the kernels do, `repeats` times on every thread.
double job_seconds(Isa isa, const std::vector<Buffer>& buffers, std::int64_t bytes, int repeats) {
  const RegisterLoop compute = multiply_add_loop(isa);
  const ReadLoop read = read_loop(isa);
  const auto start = Steady::now();
#pragma omp parallel num_threads(static_cast <int>(buffers.size()))
  {
    const void* const own = buffers[static_cast<std::size_t>(omp_get_thread_num())].get();
    for (int i = 0; i < repeats; ++i) {
      compute.run(5000);
      read(own, bytes);
    }
  }
  return seconds_since(start);
}

/// Two arms that are the same job, in rounds as every comparison is made.
double noise_floor(const Machine& machine, int threads, Isa isa) {
  constexpr int kRounds = 9;
  constexpr double kSample = 8e-3;
  const std::int64_t bytes = whole_grains(machine.l2_bytes / 2);
  const std::vector<Buffer> buffers = make_buffers(threads, bytes);
  for (const Buffer& buffer : buffers)
    std::memset(buffer.get(), 0, static_cast<std::size_t>(bytes));
  job_seconds(isa, buffers, bytes, 100);
  const double once = job_seconds(isa, buffers, bytes, 100) / 100;
  const int repeats = std::max(1, static_cast<int>(kSample / once));

  std::vector<double> left;
  std::vector<double> right;
  for (int round = 0; round < kRounds; ++round) {
    left.push_back(job_seconds(isa, buffers, bytes, repeats));
    right.push_back(job_seconds(isa, buffers, bytes, repeats));
  }
  const Interval interval = ratio_over_rounds(left, right, 0.99, 1).interval;
  return (interval.hi - interval.lo) / 2.0;
}

}  // namespace

double peak_probe(int threads, Isa isa, double seconds) {
  const RegisterLoop loop = multiply_add_loop(isa);
  return sum(rates(threads, [&](int) { return loop_rate(loop, seconds); }));
}

double clock_probe(double seconds) { return loop_rate(dependent_add_loop(), seconds); }

double read_bandwidth_probe(int threads, Isa isa, std::int64_t bytes, double seconds) {
  const std::int64_t whole = whole_grains(bytes);
  const std::vector<Buffer> buffers = make_buffers(threads, whole);
  const std::vector<double> each = rates(threads, [&](int thread) {
    return read_rate(isa, buffers[static_cast<std::size_t>(thread)].get(), whole, seconds);
  });
  return sum(each) / threads;
}

Limits measure_limits(const Machine& machine, int threads, Isa isa) {
  const PinnedThreads pinned(threads);
  const Disturbances before = disturbances();
  const auto start = Steady::now();
  const auto bandwidth = [&](std::int64_t bytes, double seconds) {
    return read_bandwidth_probe(threads, isa, bytes, seconds);
  };
  Limits limits{.threads = threads,
                .isa = isa,
                .peak_flops = best_peak(threads, isa),
                .clock_hz = clock_probe(10e-3),
                .l1_bandwidth = bandwidth(machine.l1d_bytes / 2, 10e-3),
                .l2_bandwidth = bandwidth(machine.l2_bytes / 2, 10e-3),
                .l3_bandwidth = bandwidth(l3_part(machine, threads), 30e-3),
                .dram_bandwidth = threads * bandwidth(dram_part(machine, threads), 100e-3),
                .barrier_seconds = barrier_seconds(threads),
                .fork_seconds = fork_seconds(threads),
                .noise_floor = noise_floor(machine, threads, isa)};
  limits.other_cpus = other_cpus(before, disturbances(), seconds_since(start));
  return limits;
}

}  // namespace loopbrick
