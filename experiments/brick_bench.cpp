// The brick alone: how much of the FMA peak do single kernel calls reach?
//
// Stretches of kernel calls alternate with stretches of a loop that only multiplies and adds
// registers, so that both see the same clock. Operands are cycled over 256 KiB, C is overwritten.
//
//   brick_bench [--isa avx512|avx2] [Google Benchmark's flags]

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/brgemm_kernel.h"
#include "kernels/text.h"
#include "measure/register_loops.h"

namespace loopbrick {
namespace {

constexpr std::int64_t kOperandBytes = 256 * 1024;
constexpr std::size_t kAlignment = 64;
/// Long for the clock, short for a change of frequency.
constexpr double kStretchSeconds = 100e-6;

struct Shape {
  int m = 0;
  int n = 0;
  int k = 0;
  std::int64_t batch = 0;
};

constexpr Shape kShapes[] = {{6, 64, 64, 1},  {6, 64, 64, 9},  {6, 64, 64, 16},
                             {14, 32, 64, 1}, {14, 32, 64, 9}, {14, 32, 64, 16}};

std::string name(const Shape& shape, Isa isa) {
  return std::to_string(shape.m) + "x" + std::to_string(shape.n) + "x" + std::to_string(shape.k) +
         "/batch:" + std::to_string(shape.batch) + "/" + std::string(to_string(isa));
}

double flops(const Shape& shape) {
  return 2.0 * shape.m * shape.n * shape.k * static_cast<double>(shape.batch);
}

BrgemmSpec spec_of(const Shape& shape, Isa isa) {
  BrgemmSpec spec;
  spec.isa = isa;
  spec.m = shape.m;
  spec.n = shape.n;
  spec.k = shape.k;
  spec.a_row_stride = shape.k;
  spec.ldb = shape.n;
  spec.ldc = shape.n;
  spec.form = BatchForm::address;
  return spec;
}

/// Floats of one's own, aligned to a cache line.
class AlignedFloats {
 public:
  explicit AlignedFloats(std::int64_t count)
      : storage_(static_cast<std::size_t>(count) + kAlignment / sizeof(float), 0.5F) {
    void* start = storage_.data();
    std::size_t space = storage_.size() * sizeof(float);
    data_ = static_cast<float*>(
        std::align(kAlignment, static_cast<std::size_t>(count) * sizeof(float), start, space));
  }
  float* data() { return data_; }

 private:
  std::vector<float> storage_;
  float* data_ = nullptr;
};

/// One kernel and its operands: each call takes the next `batch` blocks of A and B, round and
/// round.
class Brick {
 public:
  Brick(const Shape& shape, Isa isa)
      : batch_(shape.batch),
        blocks_(kOperandBytes / (4 * (a_size(shape) + b_size(shape)))),
        a_(blocks_ * a_size(shape)),
        b_(blocks_ * b_size(shape)),
        c_(std::int64_t{shape.m} * shape.n),
        kernel_(spec_of(shape, isa)) {
    for (std::int64_t i = 0; i < blocks_ + batch_; ++i) {
      const std::int64_t block = i % blocks_;
      list_.push_back({a_.data() + block * a_size(shape), b_.data() + block * b_size(shape)});
    }
  }

  void run(std::int64_t calls) {
    for (std::int64_t i = 0; i < calls; ++i) {
      kernel_({.c = c_.data(), .list = &list_[static_cast<std::size_t>(next_)], .counts = &batch_});
      next_ = (next_ + batch_) % blocks_;
    }
  }

 private:
  static std::int64_t a_size(const Shape& shape) { return std::int64_t{shape.m} * shape.k; }
  static std::int64_t b_size(const Shape& shape) { return std::int64_t{shape.n} * shape.k; }

  std::int64_t batch_;
  std::int64_t blocks_;
  std::int64_t next_ = 0;
  AlignedFloats a_, b_, c_;
  std::vector<BatchAddress> list_;
  BrgemmKernel kernel_;
};

template <typename Run>
double seconds_of(Run run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// How many repetitions fill a stretch.
template <typename Run>
std::int64_t repetitions(Run run) {
  std::int64_t count = 1;
  while (seconds_of([&] { run(count); }) < kStretchSeconds) count *= 2;
  return count;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The share of peak of the last, longest run of each shape.
struct Shares {
  std::vector<double> pct_of_peak = std::vector<double>(std::size(kShapes));
};

void run_brick(benchmark::State& state, const Shape& shape, Isa isa, double& pct_of_peak) {
  Brick brick(shape, isa);
  const RegisterLoop peak = multiply_add_loop(isa);
  const std::int64_t calls = repetitions([&](std::int64_t count) { brick.run(count); });
  const std::int64_t rounds = repetitions(peak.run);
  std::vector<double> call_seconds;
  std::vector<double> round_seconds;
  for ([[maybe_unused]] const auto step : state) {
    const double brick_seconds = seconds_of([&] { brick.run(calls); });
    call_seconds.push_back(brick_seconds / static_cast<double>(calls));
    round_seconds.push_back(seconds_of([&] { peak.run(rounds); }) / static_cast<double>(rounds));
    state.SetIterationTime(brick_seconds);
  }
  const double rate = flops(shape) / median(call_seconds);
  const double peak_rate = peak.work_per_round / median(round_seconds);
  pct_of_peak = 100.0 * rate / peak_rate;
  state.counters["gflops"] = rate / 1e9;
  state.counters["peak_gflops"] = peak_rate / 1e9;
  state.counters["pct_of_peak"] = pct_of_peak;
}

void register_shapes(Isa isa, Shares& shares) {
  for (std::size_t i = 0; i < std::size(kShapes); ++i) {
    double& share = shares.pct_of_peak[i];
    benchmark::RegisterBenchmark(name(kShapes[i], isa).c_str(), run_brick, kShapes[i], isa,
                                 std::ref(share))
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
}

/// On stderr: stdout may be JSON. Shapes that a filter left out do not count.
void print_summary(const Shares& shares) {
  double log_sum = 0.0;
  double least = 1e9;
  int count = 0;
  for (const double share : shares.pct_of_peak) {
    if (share == 0.0) continue;
    log_sum += std::log(share);
    least = std::min(least, share);
    ++count;
  }
  if (count == 0) return;
  std::fprintf(stderr, "pct_of_peak: geomean %.1f, least %.1f, of %d shapes\n",
               std::exp(log_sum / count), least, count);
}

/// Takes "--isa NAME" or "--isa=NAME" out of the arguments.
Isa take_isa(std::vector<char*>& arguments) {
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    const bool joined = argument.starts_with("--isa=");
    if (!joined && (argument != "--isa" || i + 1 == arguments.size())) continue;
    const Isa isa = parse_isa(joined ? argument.substr(6) : std::string_view(arguments[i + 1]));
    const auto first = arguments.begin() + static_cast<std::ptrdiff_t>(i);
    arguments.erase(first, first + (joined ? 1 : 2));
    return isa;
  }
  return best_isa();
}

int run_benchmarks(std::vector<char*> arguments) {
  const Isa isa = take_isa(arguments);
  if (isa == Isa::ref || isa > best_isa()) {
    throw ParseError("--isa: this CPU has kernels up to " + std::string(to_string(best_isa())));
  }
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;
  Shares shares;
  register_shapes(isa, shares);
  benchmark::RunSpecifiedBenchmarks();
  print_summary(shares);
  return 0;
}

}  // namespace
}  // namespace loopbrick

int main(int argc, char** argv) try {
  return loopbrick::run_benchmarks({argv, argv + argc});
} catch (const loopbrick::ParseError& error) {
  std::fprintf(stderr, "brick_bench: %s\n", error.what());
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "brick_bench: %s\n", error.what());
  return 5;
}
