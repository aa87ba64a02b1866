#include "cli/replay_program.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "kernels/text.h"
#include "loops/schedule.h"
#include "measure/machine.h"
#include "problems/conditions.h"
#include "problems/operands.h"
#include "tuner/record.h"

namespace loopbrick {
namespace {

/// @NAME@ stands for what differs from trial to trial.
constexpr std::string_view kProgram = R"program(// Trial @ID@: @PROBLEM@
// under @CONDITIONS@ on @MACHINE@
// by @BUILD@
//
//     g++ -std=c++17 -O2 FILE.cpp -I PREFIX/include -L PREFIX/lib -Wl,-rpath,PREFIX/lib -lloopbrick -o replay
//     OMP_PROC_BIND=close OMP_PLACES=cores OMP_WAIT_POLICY=active ./replay
//
// PREFIX is where the library is installed; with CMake, find_package(loopbrick) and link loopbrick::loopbrick.
#include <loopbrick/primitive.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <random>
#include <vector>

constexpr double kStoredSeconds = @SECONDS@;
constexpr int kCopies = @COPIES@;  // of the operands, taken in turn: more than one where they come from memory

struct Arrays {
  std::vector<const float*> inputs;
  std::vector<float*> outputs;
};

float* allocated(const loopbrick::PrimitiveOperand& operand) {
  const auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(64, operand.bytes));
  auto* memory = static_cast<float*>(std::aligned_alloc(64, bytes));
  if (memory == nullptr) throw std::bad_alloc();
  std::fill(memory, memory + bytes / sizeof(float), 0.0F);
  return memory;
}

Arrays filled(const loopbrick::Primitive& layer) {
  Arrays arrays;
  std::mt19937 random(1);
  std::uniform_real_distribution<float> values(-1.0F / 16, 1.0F / 16);
  for (std::size_t i = 0; i < layer.inputs().size(); ++i) {
    std::vector<float> plain(static_cast<std::size_t>(layer.inputs()[i].elements));
    for (float& value : plain) value = values(random);
    float* own = allocated(layer.inputs()[i]);
    layer.lay_out(i, plain.data(), own);
    arrays.inputs.push_back(own);
  }
  for (const auto& output : layer.outputs()) arrays.outputs.push_back(allocated(output));
  return arrays;
}

double seconds_of(loopbrick::Primitive& layer, const std::vector<Arrays>& copies, int calls) {
  static std::size_t next = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) {
    const Arrays& arrays = copies[next++ % copies.size()];
    layer.run(arrays.inputs, arrays.outputs);
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / calls;
}

int main() try {
  loopbrick::PrimitiveOptions options;
  options.threads = @THREADS@;
  options.isa = "@ISA@";
  options.schedule = "@SCHEDULE@";
  options.transposes_once = @ONCE@;
  loopbrick::Primitive layer("@PROBLEM@", options);

  std::vector<Arrays> copies;
  for (int i = 0; i < kCopies; ++i) copies.push_back(filled(layer));
  layer.prepare(copies[0].inputs);

  seconds_of(layer, copies, std::max(10, kCopies));  // warm up
  const int calls = std::max(1, static_cast<int>(10e-3 / seconds_of(layer, copies, 3)));
  std::vector<double> samples;
  for (int i = 0; i < 9; ++i) samples.push_back(seconds_of(layer, copies, calls));
  std::sort(samples.begin(), samples.end());
  const double seconds = samples[samples.size() / 2];
  std::printf("measured %.4g s (%.1f GFLOP/s), stored %.4g s, ratio %.3f\n", seconds, layer.flops() / seconds * 1e-9,
              kStoredSeconds, seconds / kStoredSeconds);
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
)program";

/// As many as the harness takes, so that they are twice as large as the last-level cache.
std::int64_t copies_of(const Problem& problem, const Conditions& conditions) {
  if (conditions.cache == CacheState::warm) return 1;
  constexpr std::int64_t kMost = 4096;
  const std::int64_t bytes = std::max<std::int64_t>(1, total_bytes(problem));
  return std::min(kMost, 2 * detect_machine().l3_bytes / bytes + 1);
}

/// Text of the database in a comment: one line.
std::string in_one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// The form's text and names take turns.
std::string filled_in(std::string_view form,
                      const std::map<std::string_view, std::string>& values) {
  std::string text;
  for (bool is_name = false; !form.empty(); is_name = !is_name) {
    const std::string_view piece = form.substr(0, form.find('@'));
    text += is_name ? values.at(piece) : std::string(piece);
    form.remove_prefix(std::min(form.size(), piece.size() + 1));
  }
  return text;
}

}  // namespace

std::string replay_program(const TrialRecord& trial) {
  if (trial.implementation != kOurs)
    throw ParseError(fmt::format("trial {} is of {}; the library runs only {}'s schedules",
                                 trial.id, trial.implementation, kOurs));
  const Measured& seen = trial.confirmed.n > 0 ? trial.confirmed : trial.search;
  if (seen.n == 0)
    throw ParseError(fmt::format("trial {} has no time: {}", trial.id, trial.outcome));
  const Conditions conditions = parse_conditions(trial.conditions);
  if (conditions.pages == Pages::huge)
    throw ParseError(
        fmt::format("trial {} had huge pages, which the library does not ask for", trial.id));
  const Problem problem = parse_problem(trial.problem);
  return filled_in(kProgram, {{"ID", std::to_string(trial.id)},
                              {"PROBLEM", to_string(problem)},
                              {"CONDITIONS", to_string(conditions)},
                              {"MACHINE", in_one_line(trial.machine)},
                              {"BUILD", in_one_line(trial.build)},
                              {"SECONDS", fmt::format("{:.6g}", seen.median)},
                              {"COPIES", std::to_string(copies_of(problem, conditions))},
                              {"THREADS", std::to_string(conditions.threads)},
                              {"ISA", std::string(to_string(conditions.isa))},
                              {"SCHEDULE", to_string(parse_schedule(trial.choice))},
                              {"ONCE", conditions.transposes_once ? "true" : "false"}});
}

}  // namespace loopbrick
