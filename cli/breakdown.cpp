#include "cli/breakdown.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include "kernels/kernel_cache.h"
#include "loops/guarded_buffer.h"
#include "loops/lstm_program.h"
#include "loops/part_times.h"
#include "loops/program.h"
#include "measure/threads.h"
#include "problems/operands.h"

namespace loopbrick {
namespace {

constexpr int kFewestRuns = 3;
constexpr double kSeconds = 0.5;  ///< that the runs take together at least

/// An LSTM made ready, with operands that it was checked on.
class CheckedLstm {
 public:
  explicit CheckedLstm(const ExplainedRun& run)
      : problem_(run.problem),
        list_(operands(run.problem)),
        program_(make_lstm_program(run.problem, run.schedule, run.conditions, kernels_)),
        workspace_(program_->workspace_bytes(), run.conditions.pages) {
    for (std::size_t i = 0; i < list_.size(); ++i) {
      plain_.emplace_back(static_cast<std::size_t>(elements(list_[i])));
      own_.emplace_back(program_->laid_out_bytes(static_cast<int>(i)), run.conditions.pages);
      pointers_.push_back(own_.back().data());
    }
    load();
    check(run.conditions.threads);
  }

  void run(PartTimes& times) const { program_->run_timed(pointers_, workspace_.bytes(), times); }

 private:
  void load() {
    fill(problem_, Fill::uniform, 1, {plain_.begin(), plain_.end()});
    for (std::size_t i = 0; i < list_.size(); ++i) {
      if (!list_[i].output) program_->lay_out(static_cast<int>(i), plain_[i], own_[i].floats());
    }
    program_->prepare(pointers_, workspace_.bytes());
  }

  void check(int threads) {
    for (std::size_t i = 0; i < list_.size(); ++i) {
      if (list_[i].output)
        std::ranges::fill(own_[i].floats(), std::numeric_limits<float>::quiet_NaN());
    }
    program_->run(pointers_, workspace_.bytes());
    std::vector<std::vector<float>> results = plain_;
    for (std::size_t i = 0; i < list_.size(); ++i) {
      if (list_[i].output) program_->take_back(static_cast<int>(i), own_[i].floats(), results[i]);
    }
    const Arrays want(plain_.begin(), plain_.end());
    reference(problem_, want, threads);
    const auto wrong = compare(problem_, Fill::uniform, {results.begin(), results.end()}, want);
    if (!wrong.empty()) throw std::runtime_error(to_string(wrong.front(), problem_));
  }

  Problem problem_;
  std::vector<Operand> list_;
  KernelCache kernels_;
  std::unique_ptr<Program> program_;
  GuardedBuffer workspace_;
  std::vector<std::vector<float>> plain_;
  std::vector<GuardedBuffer> own_;
  std::vector<void*> pointers_;
};

struct PartRow {
  LstmPart part;
  const char* name;
  double flops = 0.0;  ///< of one run; 0: not counted
};

std::vector<PartRow> parts_of(const Problem& problem) {
  const auto& lstm = std::get<Lstm>(problem.shape);
  const double gates = 8.0 * static_cast<double>(lstm.t * lstm.n * lstm.k);
  const double by_c = gates * static_cast<double>(lstm.c);
  const double by_k = gates * static_cast<double>(lstm.k);
  if (problem.pass != Pass::bwd) {
    return {{LstmPart::inputs, "W x", by_c},
            {LstmPart::states, "R h", by_k},
            {LstmPart::elementwise, "element-wise"}};
  }
  return {{LstmPart::dh, "dh", by_k},
          {LstmPart::dx, "dx", by_c},
          {LstmPart::dw, "dw", by_c},
          {LstmPart::dr, "dr", by_k},
          {LstmPart::elementwise, "element-wise"},
          {LstmPart::transposition, "w', r'"}};
}

std::string line(const char* name, double share, double rate) {
  const std::string text = fmt::format("  {:<13} {:>5.1f} %", name, 100.0 * share);
  return rate > 0.0 ? fmt::format("{}  {:.1f} GFLOP/s\n", text, rate * 1e-9) : text + "\n";
}

}  // namespace

std::string breakdown(const ExplainedRun& run) {
  const CheckedLstm lstm(run);
  const int threads = run.conditions.threads;
  const PinnedThreads pinned(threads);
  set_flush_denormals(threads, run.conditions.flush_denormals);
  PartTimes times(threads);
  int runs = 0;
  std::chrono::duration<double> taken{};
  const auto start = std::chrono::steady_clock::now();
  for (; runs < kFewestRuns || taken.count() < kSeconds; ++runs) {
    lstm.run(times);
    taken = std::chrono::steady_clock::now() - start;
  }
  const double all = taken.count() * threads;
  std::string text = fmt::format("breakdown    {} runs of {:.4g} s, each thread's time\n", runs,
                                 taken.count() / runs);
  double rest = 1.0;
  for (const PartRow& row : parts_of(run.problem)) {
    const double seconds = times.seconds(row.part);
    text += line(row.name, seconds / all, runs * row.flops * threads / seconds);
    rest -= seconds / all;
  }
  return text + line("waiting", rest, 0.0);
}

}  // namespace loopbrick
