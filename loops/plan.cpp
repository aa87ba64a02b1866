#include "loops/plan.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <stdexcept>

#include "kernels/text.h"
#include "loops/call_count.h"
#include "loops/contraction.h"
#include "loops/lstm_program.h"
#include "loops/nest.h"
#include "loops/operand_layout.h"
#include "loops/program.h"
#include "loops/step_facts.h"
#include "loops/strided_copy.h"
#include "loops/sum_gradient.h"
#include "loops/transposed_weights.h"
#include "loops/weights.h"
#include "problems/operands.h"

namespace loopbrick {

namespace {

constexpr int kA = 0, kB = 1;  ///< of operands(problem)

/// Where operands(problem) lists the others; 0: not at all.
struct Places {
  std::size_t bias = 0, kept = 0, c = 0, db = 0;
};

Places places_of(const Problem& problem) {
  const std::vector<Operand> all = operands(problem);
  Places places;
  for (std::size_t i = 2; i < all.size(); ++i) {
    if (all[i].output) {
      (places.c == 0 ? places.c : places.db) = i;
    } else {
      (problem.pass == Pass::fwd ? places.bias : places.kept) = i;
    }
  }
  return places;
}

/// What the loops do to the tiles: backward that is nothing.
PostOps post_ops_of(const Problem& problem) {
  if (problem.pass != Pass::fwd) return {};
  return {problem.bias, problem.activation};
}

Contraction checked(const Problem& problem, const Schedule& schedule,
                    const Conditions& conditions) {
  const auto found = contraction(problem);
  if (const auto* no = std::get_if<Refusal>(&found))
    throw std::invalid_argument("Plan: " + to_string(*no));
  const auto& good = std::get<Contraction>(found);
  if (const auto no = why_not(good, schedule, conditions)) {
    throw std::invalid_argument("Plan: " + to_string(*no));
  }
  return good;
}

std::optional<WeightLayout> weights_of(const Contraction& to, const Step& step) {
  if (!to.plan_lays_out_b) return std::nullopt;
  const auto taps = [&to](Axis axis) { return to.has(axis) ? to.extent(axis) : 1; };
  return WeightLayout{.k = to.extent(to.columns),
                      .c = to.extent(to.depth),
                      .r = taps(Axis::r),
                      .s = taps(Axis::s),
                      .tile = tile_columns(to, step),
                      .depth = entry_depth(to, step),
                      .columns_first = has_windows(to, step)};
}

std::optional<TransposedWeights> transposed_of(const Contraction& to, const Step& step) {
  if (!to.b_is_transposed) return std::nullopt;
  return TransposedWeights::of(to, step);
}

Contraction with_weights(Contraction to, const std::optional<WeightLayout>& weights,
                         const std::optional<TransposedWeights>& transposed, bool packs_weights) {
  if (transposed) {
    if (!packs_weights) to.b = transposed->access();
  } else if (weights) {
    to.b = weights->access();
  }
  return to;
}

/// FLOPs that really run: two for every pair of an output and a tap on the image, or for all of
/// them.
double executed(const Contraction& to, const Step& step) {
  const bool leaves_rim_out = has_windows(to, step) || !to.clips.empty() || !to.phases.empty();
  double count = 2.0 * (leaves_rim_out ? to.pairs_on_image() : to.pairs());
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(kFlattened); ++axis) {
    if (to.extents[axis] >= 0 && !to.is_at_border(axis))
      count *= static_cast<double>(to.extents[axis]);
  }
  return count;
}

/// The problem as the loops see it, and the one step that runs it.
class NestProgram : public Program {
 public:
  NestProgram(const Problem& problem, const Schedule& schedule, const Conditions& conditions,
              KernelCache& kernels)
      : problem_(problem),
        step_(main_step(schedule)),
        once_(transposes_once(schedule)),
        plain_(checked(problem, schedule, conditions)),
        weights_(weights_of(plain_, step_)),
        transposed_(transposed_of(plain_, step_)),
        places_(places_of(problem)),
        gradient_(SumGradient::of(problem, conditions, kernels)),
        threads_(conditions.threads),
        nest_(with_weights(plain_, weights_, transposed_, packs_weights(step_)), step_,
              post_ops_of(problem), conditions, kernels) {}

  std::int64_t workspace_bytes() const override;
  std::int64_t laid_out_bytes(int operand) const override;
  std::string layout(int operand) const override;
  void lay_out(int operand, std::span<const float> plain, std::span<float> own) const override;
  void take_back(int operand, std::span<const float> own, std::span<float> plain) const override;
  std::int64_t calls() const override { return count_calls(plain_, step_); }
  std::int64_t barriers() const override;
  double executed_flops() const override { return executed(plain_, step_); }
  std::vector<std::shared_ptr<const BrgemmKernel>> generated() const override;
  void prepare(std::span<void* const> operands, std::span<std::byte> workspace) const override;
  void run(std::span<void* const> operands, std::span<std::byte> workspace) const noexcept override;

 private:
  Problem problem_;
  Step step_;
  bool once_ = false;  ///< the weights are transposed by prepare
  Contraction plain_;
  std::optional<WeightLayout> weights_;
  std::optional<TransposedWeights>
      transposed_;  ///< made in every run from the forward layout, here or by pack(w') in the nest
  Places places_;
  std::optional<SumGradient> gradient_;  ///< backward behind an activation, and of a bias
  int threads_;
  Nest nest_;

  bool transposes_first() const { return transposed_ && !packs_weights(step_) && !once_; }
  void transpose(const void* weights, std::span<std::byte> workspace) const noexcept;

  /// Any operand but laid-out weights.
  StridedArray array(int operand) const { return operand_array(problem_, operand); }
  bool lays_out_weights(int operand) const { return weights_ && operand == kB; }
  std::int64_t transposed_bytes() const {
    if (!transposed_ || packs_weights(step_)) return 0;
    return saturating_product(saturating_sum(transposed_->to.elements(), 15) / 16, 64);
  }
  std::int64_t gradient_bytes() const { return gradient_ ? gradient_->workspace_bytes() : 0; }
};

std::int64_t NestProgram::laid_out_bytes(int operand) const {
  const std::int64_t count =
      lays_out_weights(operand) ? weights_->elements() : last_offset(array(operand)) + 1;
  return saturating_product(count, sizeof(float));
}

std::string NestProgram::layout(int operand) const {
  if (!lays_out_weights(operand)) return {};
  return fmt::format("{} {} {}", weights_->tile, weights_->depth, weights_->columns_first);
}

void NestProgram::lay_out(int operand, std::span<const float> plain, std::span<float> own) const {
  if (lays_out_weights(operand)) {
    weights_->lay_out(plain, own, threads_);
  } else {
    scatter(array(operand), plain, own, threads_);
  }
}

void NestProgram::take_back(int operand, std::span<const float> own, std::span<float> plain) const {
  gather(array(operand), own, plain, threads_);
}

/// The transposed weights and the gradient of the sums, if there are any, and what the nest needs.
std::int64_t NestProgram::workspace_bytes() const {
  return saturating_sum(saturating_sum(transposed_bytes(), gradient_bytes()),
                        nest_.workspace_bytes());
}

std::vector<std::shared_ptr<const BrgemmKernel>> NestProgram::generated() const {
  std::vector<std::shared_ptr<const BrgemmKernel>> all;
  for (const CallTable& table : nest_.tables())
    all.insert(all.end(), table.all().begin(), table.all().end());
  if (gradient_) {
    const auto sums = gradient_->generated();
    all.insert(all.end(), sums.begin(), sums.end());
  }
  return all;
}

std::int64_t NestProgram::barriers() const {
  const bool in_parallel = transposes_first() && transposed_->group.pixels == 1;
  return nest_.barriers() + (in_parallel ? 1 : 0) + (gradient_ ? gradient_->barriers() : 0);
}

void NestProgram::transpose(const void* weights, std::span<std::byte> workspace) const noexcept {
  transposed_->run(static_cast<const float*>(weights), reinterpret_cast<float*>(workspace.data()),
                   threads_);
}

void NestProgram::prepare(std::span<void* const> operands, std::span<std::byte> workspace) const {
  if (once_) transpose(operands[1], workspace);
}

void NestProgram::run(std::span<void* const> operands,
                      std::span<std::byte> workspace) const noexcept {
  const auto floats = [&operands](std::size_t place) {
    return place == 0 ? nullptr : static_cast<float*>(operands[place]);
  };
  const auto* a = static_cast<const float*>(operands[kA]);
  const auto* b = static_cast<const float*>(operands[kB]);
  if (transposed_ && !packs_weights(step_)) {
    if (transposes_first()) transpose(b, workspace);
    b = reinterpret_cast<const float*>(workspace.data());
    workspace = workspace.subspan(static_cast<std::size_t>(transposed_bytes()));
  }
  if (gradient_) {
    const float*& dy = problem_.pass == Pass::bwd_d ? a : b;
    dy = gradient_->run(dy, floats(places_.kept), floats(places_.db), workspace.data());
    workspace = workspace.subspan(static_cast<std::size_t>(gradient_bytes()));
  }
  nest_.run({.a = a, .b = b, .c = floats(places_.c), .bias = floats(places_.bias)},
            workspace.data());
}

std::unique_ptr<Program> make_program(const Problem& problem, const Schedule& schedule,
                                      const Conditions& conditions, KernelCache& kernels) {
  if (std::holds_alternative<Lstm>(problem.shape))
    return make_lstm_program(problem, schedule, conditions, kernels);
  return std::make_unique<NestProgram>(problem, schedule, conditions, kernels);
}

}  // namespace

Plan::Plan(const Problem& problem, const Schedule& schedule, const Conditions& conditions,
           KernelCache& kernels)
    : program_(make_program(problem, schedule, conditions, kernels)) {}

Plan::~Plan() = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;

std::int64_t Plan::workspace_bytes() const { return program_->workspace_bytes(); }
std::int64_t Plan::laid_out_bytes(int operand) const { return program_->laid_out_bytes(operand); }
std::string Plan::layout(int operand) const { return program_->layout(operand); }
void Plan::lay_out(int operand, std::span<const float> plain, std::span<float> own) const {
  program_->lay_out(operand, plain, own);
}
void Plan::take_back(int operand, std::span<const float> own, std::span<float> plain) const {
  program_->take_back(operand, own, plain);
}
std::int64_t Plan::calls() const { return program_->calls(); }
std::int64_t Plan::barriers() const { return program_->barriers(); }
double Plan::executed_flops() const { return program_->executed_flops(); }
std::vector<std::shared_ptr<const BrgemmKernel>> Plan::generated() const {
  return program_->generated();
}
std::string Plan::kernels() const {
  std::set<std::string> specs;
  for (const auto& kernel : generated()) {
    if (kernel != nullptr) specs.insert(to_string(kernel->spec()));
  }
  std::string text;
  for (const std::string& spec : specs) text += spec + "\n";
  return text;
}
void Plan::prepare(std::span<void* const> operands, std::span<std::byte> workspace) const {
  program_->prepare(operands, workspace);
}
void Plan::run(std::span<void* const> operands, std::span<std::byte> workspace) const noexcept {
  program_->run(operands, workspace);
}

}  // namespace loopbrick
