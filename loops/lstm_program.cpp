#include "loops/lstm_program.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

#include "kernels/text.h"
#include "loops/call_count.h"
#include "loops/lstm_backward.h"
#include "loops/lstm_forward.h"
#include "loops/strided_copy.h"
#include "problems/operands.h"

namespace loopbrick {

namespace {

constexpr int kW = 3, kR = 4;  ///< of operands(problem)
constexpr int kDw = 11, kDr = 12;
constexpr std::int64_t kLine = 64;  ///< bytes

std::int64_t whole_lines(std::int64_t elements, std::size_t element_bytes) {
  const std::int64_t bytes = saturating_product(elements, static_cast<std::int64_t>(element_bytes));
  return saturating_product(saturating_sum(bytes, kLine - 1) / kLine, kLine);
}

/// Pieces of a workspace, one behind the other.
class Pieces {
 public:
  explicit Pieces(std::byte* at) : at_(at) {}

  template <typename T>
  T* take(std::int64_t elements) {
    T* const piece = reinterpret_cast<T*>(at_);
    at_ += whole_lines(elements, sizeof(T));
    return piece;
  }

 private:
  std::byte* at_;
};

LstmSteps checked(const Problem& problem, const Schedule& schedule, const Conditions& conditions) {
  if (const auto no = why_not_lstm(problem, schedule, conditions))
    throw std::invalid_argument("Plan: " + to_string(*no));
  return std::get<LstmSteps>(lstm_steps(problem.pass, schedule));
}

/// The forward pass before a backward one: it is not timed, but has to leave w and r in blocks of
/// k.
LstmSteps steps_before(const Lstm& lstm) {
  const std::int64_t block = channel_block(Layout::blocked, lstm.k);
  const std::int64_t input_block = channel_block(Layout::blocked, lstm.c);
  const std::string text =
      fmt::format("T N24 K{0} g @ c{1} * c ; t {{ N24 K{0} g @ h{0} * h ; }}", block, input_block);
  return std::get<LstmSteps>(lstm_steps(Pass::train, parse_schedule(text)));
}

class LstmProgram : public Program {
 public:
  LstmProgram(const Problem& problem, const Schedule& schedule, const Conditions& conditions,
              KernelCache& kernels)
      : problem_(problem),
        lstm_(std::get<Lstm>(problem.shape)),
        operands_(operands(problem)),
        steps_(checked(problem, schedule, conditions)),
        threads_(conditions.threads),
        forward_(lstm_, is_backward() ? steps_before(lstm_) : steps_, problem.pass != Pass::fwd,
                 conditions, kernels) {
    if (is_backward()) backward_.emplace(lstm_, steps_, conditions, kernels);
  }

  std::int64_t workspace_bytes() const override;
  std::int64_t laid_out_bytes(int operand) const override;
  std::string layout(int operand) const override;
  void lay_out(int operand, std::span<const float> plain, std::span<float> own) const override;
  void take_back(int operand, std::span<const float> own, std::span<float> plain) const override;
  std::int64_t calls() const override;
  std::int64_t barriers() const override {
    return backward_ ? backward_->barriers() : forward_.barriers();
  }
  double executed_flops() const override { return flops(problem_); }
  std::vector<std::shared_ptr<const BrgemmKernel>> generated() const override;
  void prepare(std::span<void* const> operands, std::span<std::byte> workspace) const override;
  void run(std::span<void* const> operands,
           std::span<std::byte> workspace) const noexcept override {
    run(operands, workspace, nullptr);
  }
  void run_timed(std::span<void* const> operands, std::span<std::byte> workspace,
                 PartTimes& times) const noexcept override {
    run(operands, workspace, &times);
  }

 private:
  void run(std::span<void* const> operands, std::span<std::byte> workspace,
           PartTimes* times) const noexcept;
  struct Workspace {
    float* gates;
    BatchAddress* scratch;
    float *h, *c, *rest;  ///< backward only
  };
  bool is_backward() const { return problem_.pass == Pass::bwd; }
  const LstmWeights& weights(int operand) const {
    return operand == kW ? forward_.w() : forward_.r();
  }
  std::int64_t scratch_addresses() const;
  std::int64_t state() const { return saturating_product(lstm_.n, lstm_.k); }
  std::int64_t states() const { return saturating_product(lstm_.t + 1, state()); }
  StridedArray array(int operand) const;
  StridedArray gradient_array(bool is_dw) const;
  Workspace divide(std::span<std::byte> workspace) const;
  std::vector<const CallTable*> tables() const;

  Problem problem_;
  Lstm lstm_;
  std::vector<Operand> operands_;
  LstmSteps steps_;
  int threads_;
  LstmForward forward_;  ///< of a backward pass: the one before it
  std::optional<LstmBackward> backward_;
};

std::int64_t LstmProgram::scratch_addresses() const {
  const std::int64_t most = backward_ ? backward_->scratch_addresses() : 0;
  return saturating_product(threads_, std::max(most, forward_.scratch_addresses()));
}

std::int64_t LstmProgram::workspace_bytes() const {
  std::int64_t bytes = saturating_sum(whole_lines(forward_.gate_elements(), sizeof(float)),
                                      whole_lines(scratch_addresses(), sizeof(BatchAddress)));
  if (!backward_) return bytes;
  for (const std::int64_t part : {states(), states(), backward_->workspace_floats()})
    bytes = saturating_sum(bytes, whole_lines(part, sizeof(float)));
  return bytes;
}

LstmProgram::Workspace LstmProgram::divide(std::span<std::byte> workspace) const {
  Pieces pieces(workspace.data());
  Workspace own{};
  own.gates = pieces.take<float>(forward_.gate_elements());
  own.scratch = pieces.take<BatchAddress>(scratch_addresses());
  if (!backward_) return own;
  own.h = pieces.take<float>(states());
  own.c = pieces.take<float>(states());
  own.rest = pieces.take<float>(backward_->workspace_floats());
  return own;
}

std::int64_t LstmProgram::laid_out_bytes(int operand) const {
  const std::int64_t count = operand == kW || operand == kR
                                 ? weights(operand).elements()
                                 : elements(operands_[static_cast<std::size_t>(operand)]);
  return saturating_product(count, sizeof(float));
}

std::string LstmProgram::layout(int operand) const {
  if (operand == kW || operand == kR) return std::to_string(weights(operand).gate.tile);
  return {};
}

void LstmProgram::lay_out(int operand, std::span<const float> plain, std::span<float> own) const {
  if (operand != kW && operand != kR) return scatter(array(operand), plain, own, threads_);
  const WeightLayout& gate = weights(operand).gate;
  const std::size_t from = plain.size() / 4;
  const auto to = static_cast<std::size_t>(gate.elements());
  for (std::size_t g = 0; g < 4; ++g)
    gate.lay_out(plain.subspan(g * from, from), own.subspan(g * to, to), threads_);
}

void LstmProgram::take_back(int operand, std::span<const float> own, std::span<float> plain) const {
  gather(array(operand), own, plain, threads_);
}

/// Any operand but w and r.
StridedArray LstmProgram::array(int operand) const {
  const Operand& plain = operands_[static_cast<std::size_t>(operand)];
  if (plain.name == "dw" || plain.name == "dr") return gradient_array(plain.name == "dw");
  if (plain.name == "b" || plain.name == "db") return {{elements(plain), {.inner = 1}}};
  const Axis feature = plain.name == "x" || plain.name == "dx" ? Axis::c : Axis::k;
  const Access access = lstm_state_access(lstm_, feature);
  StridedArray array;
  if (plain.extents.size() == 3) array.push_back({lstm_.t, access[place(Axis::t)]});
  array.push_back({lstm_.n, access[place(Axis::n)]});
  array.push_back({plain.extents.back(), access[place(feature)]});
  return array;
}

StridedArray LstmProgram::gradient_array(bool is_dw) const {
  const Contraction to = lstm_contraction(lstm_, is_dw ? LstmProduct::dw : LstmProduct::dr);
  const auto axis = [&to](Axis which) { return StridedAxis{to.extent(which), to.c[place(which)]}; };
  return {axis(Axis::g), axis(Axis::k), axis(to.row)};
}

std::int64_t LstmProgram::calls() const {
  const auto of = [this](LstmProduct product, const std::optional<Step>& step) {
    return count_calls(lstm_contraction(lstm_, product), *step);
  };
  if (backward_) {
    const std::int64_t times = steps_.gradients_in_time ? lstm_.t : 1;
    const auto gradient = [&](LstmProduct product, const std::optional<Step>& step) {
      const Lstm lstm = lstm_of_gradients(lstm_, steps_);
      return saturating_product(times, count_calls(lstm_contraction(lstm, product), *step));
    };
    return saturating_sum(
        saturating_sum(saturating_product(lstm_.t, of(LstmProduct::dh, steps_.dh)),
                       gradient(LstmProduct::dx, steps_.dx)),
        saturating_sum(gradient(LstmProduct::dw, steps_.dw), gradient(LstmProduct::dr, steps_.dr)));
  }
  const std::int64_t state = saturating_product(lstm_.t, of(LstmProduct::state, steps_.cell));
  if (steps_.is_fused()) return saturating_product(2, state);
  return saturating_sum(state, of(LstmProduct::inputs, steps_.inputs));
}

std::vector<const CallTable*> LstmProgram::tables() const {
  return backward_ ? backward_->tables() : forward_.tables();
}

std::vector<std::shared_ptr<const BrgemmKernel>> LstmProgram::generated() const {
  std::vector<std::shared_ptr<const BrgemmKernel>> all;
  for (const CallTable* table : tables())
    all.insert(all.end(), table->all().begin(), table->all().end());
  return all;
}

const float* input(std::span<void* const> operands, std::size_t i) {
  return static_cast<const float*>(operands[i]);
}

float* output(std::span<void* const> operands, std::size_t i) {
  return static_cast<float*>(operands[i]);
}

void LstmProgram::prepare(std::span<void* const> operands, std::span<std::byte> workspace) const {
  if (!backward_) return;
  const Workspace own = divide(workspace);
  std::copy_n(input(operands, 1), state(), own.h);
  std::copy_n(input(operands, 2), state(), own.c);
  forward_.run({.x = input(operands, 0),
                .h0 = own.h,
                .c0 = own.c,
                .w = input(operands, kW),
                .r = input(operands, kR),
                .b = input(operands, 5),
                .h = own.h + state(),
                .c = own.c + state()},
               own.gates, own.scratch);
}

void LstmProgram::run(std::span<void* const> operands, std::span<std::byte> workspace,
                      PartTimes* times) const noexcept {
  const Workspace own = divide(workspace);
  if (!backward_) {
    return forward_.run({.x = input(operands, 0),
                         .h0 = input(operands, 1),
                         .c0 = input(operands, 2),
                         .w = input(operands, kW),
                         .r = input(operands, kR),
                         .b = input(operands, 5),
                         .h = output(operands, 6),
                         .c = output(operands, 7)},
                        own.gates, own.scratch, times);
  }
  backward_->run({.x = input(operands, 0),
                  .w = input(operands, kW),
                  .r = input(operands, kR),
                  .dh = input(operands, 6),
                  .dc = input(operands, 7),
                  .gates = own.gates,
                  .h = own.h,
                  .c = own.c,
                  .dx = output(operands, 8),
                  .dh0 = output(operands, 9),
                  .dc0 = output(operands, 10),
                  .dw = output(operands, kDw),
                  .dr = output(operands, kDr),
                  .db = output(operands, 13)},
                 own.rest, own.scratch, times);
}

}  // namespace

std::unique_ptr<Program> make_lstm_program(const Problem& problem, const Schedule& schedule,
                                           const Conditions& conditions, KernelCache& kernels) {
  return std::make_unique<LstmProgram>(problem, schedule, conditions, kernels);
}

}  // namespace loopbrick
