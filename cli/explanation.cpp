#include "cli/explanation.h"

#include <fmt/format.h>
#include <set>
#include <variant>

#include "cli/nest_text.h"
#include "kernels/kernel_cache.h"
#include "kernels/listing.h"
#include "kernels/text.h"
#include "loops/contraction.h"
#include "loops/lstm_steps.h"
#include "loops/plan.h"
#include "problems/operands.h"
#include "tuner/lstm_model.h"

namespace loopbrick {
namespace {

Contraction contraction_of(const Problem& problem) {
  if (const auto* lstm = std::get_if<Lstm>(&problem.shape)) return lstm_axes(*lstm);
  const auto made = contraction(problem);
  if (const auto* refusal = std::get_if<Refusal>(&made)) {
    throw ParseError(to_string(problem) + " cannot be run: " + to_string(*refusal));
  }
  return std::get<Contraction>(made);
}

void refuse_what_cannot_run(const ExplainedRun& run) {
  if (const auto refusal = why_not(run.problem, run.schedule, run.conditions)) {
    throw ParseError(fmt::format("schedule '{}' cannot run {}: {}", to_string(run.schedule),
                                 to_string(run.problem), to_string(*refusal)));
  }
}

double mebibytes(double bytes) { return bytes / (1024.0 * 1024.0); }

std::string indented(const std::string& lines) {
  std::string text = "  ";
  for (const char letter : lines)
    text += letter == '\n' ? std::string("\n  ") : std::string(1, letter);
  text.erase(text.find_last_not_of(" \n") + 1);
  return text + "\n";
}

std::string work_text(const Problem& problem, const Plan& plan) {
  const double counted = flops(problem);
  return fmt::format(
      "operands     {:.1f} MiB, workspace {:.1f} MiB\n"
      "flops        {:.6g} counted, {:.6g} executed ({:.1f} %)\n"
      "barriers     {}\n"
      "calls        {}, by the kernels\n{}",
      mebibytes(static_cast<double>(total_bytes(problem))),
      mebibytes(static_cast<double>(plan.workspace_bytes())), counted, plan.executed_flops(),
      100.0 * plan.executed_flops() / counted, plan.barriers(), plan.calls(),
      indented(plan.kernels()));
}

std::string part(const char* name, double seconds, const std::string& why) {
  return fmt::format("  {:<10} {:>9.3g} s  {}\n", name, seconds, why);
}

std::string prediction_text(const Prediction& guess, double counted) {
  const auto bytes = [](const OperandBytes& moved) {
    return fmt::format("{:.1f} MiB: A {:.1f}, B {:.1f}, C {:.1f}", mebibytes(moved.all()),
                       mebibytes(moved.a), mebibytes(moved.b), mebibytes(moved.c));
  };
  return fmt::format("predicted    {:.4g} s, {:.1f} GFLOP/s\n", guess.seconds,
                     counted / guess.seconds * 1e-9) +
         part("compute", guess.compute,
              fmt::format("the slowest thread has {:.3f} times the mean work", guess.imbalance)) +
         part("L1 - L2", guess.l2, bytes(guess.l2_bytes)) +
         part("L2 - L3", guess.l3, bytes(guess.l3_bytes)) +
         part("L3 - memory", guess.dram, bytes(guess.dram_bytes)) +
         part("overhead", guess.overhead, fmt::format("{:.0f} calls", guess.calls));
}

Prediction predicted(const ExplainedRun& run, const Machine& machine, const Limits& limits) {
  if (std::holds_alternative<Lstm>(run.problem.shape))
    return LstmModel(run.problem, run.conditions, machine, limits).predict(run.schedule);
  return Model(run.problem, run.conditions, machine, limits).predict(run.schedule);
}

}  // namespace

std::string explanation(const ExplainedRun& run, const Machine& machine, const Limits& limits) {
  const Contraction axes = contraction_of(run.problem);
  refuse_what_cannot_run(run);
  KernelCache kernels;
  const Plan plan(run.problem, run.schedule, run.conditions, kernels);
  return nest_text(axes, run.schedule) + work_text(run.problem, plan) +
         prediction_text(predicted(run, machine, limits), flops(run.problem));
}

ScheduleCosts costs_of(const ExplainedRun& run, const Machine& machine, const Limits& limits) {
  refuse_what_cannot_run(run);
  KernelCache kernels;
  const Plan plan(run.problem, run.schedule, run.conditions, kernels);
  const Prediction guess = predicted(run, machine, limits);
  return {.executed_flops = plan.executed_flops(),
          .calls = plan.calls(),
          .barriers = plan.barriers(),
          .l2_bytes = guess.l2_bytes.all(),
          .l3_bytes = guess.l3_bytes.all(),
          .dram_bytes = guess.dram_bytes.all(),
          .imbalance = guess.imbalance,
          .seconds = guess.seconds};
}

std::string kernel_listings(const ExplainedRun& run) {
  refuse_what_cannot_run(run);
  KernelCache kernels;
  const Plan plan(run.problem, run.schedule, run.conditions, kernels);
  std::set<std::string> seen;
  std::string text;
  for (const auto& kernel : plan.generated()) {
    if (!kernel || !seen.insert(to_string(kernel->spec())).second) continue;
    text += "\n" + to_string(kernel->spec()) + "\n" + listing(*kernel);
  }
  return text;
}

void require_loops(const Problem& problem) { contraction_of(problem); }

}  // namespace loopbrick
