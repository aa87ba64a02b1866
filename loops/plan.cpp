#include "loops/plan.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <stdexcept>

#include "kernels/text.h"
#include "loops/contraction.h"
#include "loops/nest.h"
#include "loops/operand_layout.h"
#include "loops/step_facts.h"
#include "loops/strided_copy.h"
#include "loops/transposed_weights.h"
#include "loops/weights.h"
#include "problems/operands.h"

namespace loopbrick {

namespace {

/// Which part an operand plays: operands(problem) lists the inputs a and b, the bias if there is
/// one, and the output.
enum class Part { a, b, bias, c };

Part part_of(const Problem& problem, int operand) {
  if (operand < 2) return operand == 0 ? Part::a : Part::b;
  return operand == 2 && problem.bias ? Part::bias : Part::c;
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

/// How many tiles(extent, steps) there are, without listing them.
std::int64_t count_tiles(std::int64_t extent, const Steps& steps, int level = 0) {
  if (level == steps.size()) return 1;
  const std::int64_t step = steps[level];
  const std::int64_t rest = extent % step;
  const std::int64_t whole = extent / step;
  const std::int64_t in_whole =
      whole == 0 ? 0 : saturating_product(whole, count_tiles(step, steps, level + 1));
  return rest == 0 ? in_whole : saturating_sum(in_whole, count_tiles(rest, steps, level + 1));
}

/// Flattened pixels are cut anew in every range of lines that the loops over lines leave.
std::int64_t count_flattened(const Contraction& to, const Step& step) {
  std::int64_t count = 0;
  for (const Range& lines : tiles(to.extent(to.line), steps_over(step, to.line))) {
    count += count_tiles(lines.size() * to.extent(to.row), steps_over_flattened(step));
  }
  return count;
}

/// Rounds over the pixels that some tap meets, over all taps.
std::int64_t count_clipped(const Contraction& to, const Step& step, const Border& clip) {
  const int at = place_of_loop(step, clip.tap);
  std::int64_t count = 0;
  for (std::int64_t tap = 0; tap < to.extent(clip.tap); ++tap) {
    for (const Range& round : tiles(to.extent(clip.out), steps_before(step, clip.out, at))) {
      count += count_tiles(on_image(clip, round, tap).size(), steps_behind(step, clip.out, at));
    }
  }
  return count;
}

std::int64_t count_of_phase(const Contraction& to, const Step& step) {
  std::int64_t count = flattens(step) ? count_flattened(to, step) : 1;
  for (const Border& clip : to.clips)
    count = saturating_product(count, count_clipped(to, step, clip));
  for (const auto* axes : {&to.outputs, &to.sums}) {
    for (const Axis axis : *axes) {
      const bool is_flat = flattens(step) && (axis == to.line || axis == to.row);
      const bool is_clipped =
          !to.clips.empty() && to.is_at_border(static_cast<std::size_t>(index_of(axis)));
      if (is_flat || is_clipped || axis == Axis::f) continue;
      count = saturating_product(count, count_tiles(to.extent(axis), steps_over(step, axis)));
    }
  }
  return count;
}

std::int64_t count_calls(const Contraction& to, const Step& step) {
  std::int64_t count = 0;
  for (std::size_t phase = 0; phase < std::max<std::size_t>(1, to.phases.size()); ++phase) {
    count = saturating_sum(count, count_of_phase(to.in_phase(phase), step));
  }
  return count;
}

}  // namespace

/// The problem as the loops see it, and the one step that runs it.
class Plan::Parts {
 public:
  Parts(const Problem& problem, const Schedule& schedule, const Conditions& conditions,
        KernelCache& kernels)
      : problem_(problem),
        step_(schedule.steps[0]),
        plain_(checked(problem, schedule, conditions)),
        weights_(weights_of(plain_, step_)),
        transposed_(transposed_of(plain_, step_)),
        threads_(conditions.threads),
        nest_(with_weights(plain_, weights_, transposed_, packs_weights(step_)), step_,
              {problem.bias, problem.activation}, conditions, kernels) {}

  Problem problem_;
  Step step_;
  Contraction plain_;
  std::optional<WeightLayout> weights_;
  std::optional<TransposedWeights>
      transposed_;  ///< made in every run from the forward layout, here or by pack(w') in the nest
  int threads_;
  Nest nest_;

  /// Any operand but laid-out weights.
  StridedArray array(int operand) const { return operand_array(problem_, operand); }
  bool lays_out_weights(int operand) const {
    return weights_ && part_of(problem_, operand) == Part::b;
  }
  std::int64_t transposed_bytes() const {
    if (!transposed_ || packs_weights(step_)) return 0;
    return saturating_product(saturating_sum(transposed_->to.elements(), 15) / 16, 64);
  }
};

Plan::Plan(const Problem& problem, const Schedule& schedule, const Conditions& conditions,
           KernelCache& kernels)
    : parts_(std::make_unique<Parts>(problem, schedule, conditions, kernels)) {}

Plan::~Plan() = default;
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;

std::int64_t Plan::laid_out_bytes(int operand) const {
  const std::int64_t count = parts_->lays_out_weights(operand)
                                 ? parts_->weights_->elements()
                                 : last_offset(parts_->array(operand)) + 1;
  return saturating_product(count, sizeof(float));
}

std::string Plan::layout(int operand) const {
  if (!parts_->lays_out_weights(operand)) return {};
  return fmt::format("{} {} {}", parts_->weights_->tile, parts_->weights_->depth,
                     parts_->weights_->columns_first);
}

void Plan::lay_out(int operand, std::span<const float> plain, std::span<float> own) const {
  if (parts_->lays_out_weights(operand)) {
    parts_->weights_->lay_out(plain, own, parts_->threads_);
  } else {
    scatter(parts_->array(operand), plain, own, parts_->threads_);
  }
}

void Plan::take_back(int operand, std::span<const float> own, std::span<float> plain) const {
  gather(parts_->array(operand), own, plain, parts_->threads_);
}

/// The transposed weights, if there are any, and what the nest needs.
std::int64_t Plan::workspace_bytes() const {
  return saturating_sum(parts_->transposed_bytes(), parts_->nest_.workspace_bytes());
}
std::int64_t Plan::calls() const { return count_calls(parts_->plain_, parts_->step_); }
double Plan::executed_flops() const { return executed(parts_->plain_, parts_->step_); }
std::string Plan::kernels() const {
  std::set<std::string> specs;
  for (const CallTable& table : tables()) table.add_specs(specs);
  std::string text;
  for (const std::string& spec : specs) text += spec + "\n";
  return text;
}
const std::vector<CallTable>& Plan::tables() const { return parts_->nest_.tables(); }

void Plan::run(std::span<void* const> operands, std::span<std::byte> workspace) const noexcept {
  const bool bias = parts_->problem_.bias;
  const auto* weights = static_cast<const float*>(operands[1]);
  if (parts_->transposed_ && !packs_weights(parts_->step_)) {
    auto* own = reinterpret_cast<float*>(workspace.data());
    parts_->transposed_->run(weights, own, parts_->threads_);
    weights = own;
    workspace = workspace.subspan(static_cast<std::size_t>(parts_->transposed_bytes()));
  }
  parts_->nest_.run({.a = static_cast<const float*>(operands[0]),
                     .b = weights,
                     .c = static_cast<float*>(operands[bias ? 3 : 2]),
                     .bias = bias ? static_cast<const float*>(operands[2]) : nullptr},
                    workspace.data());
}

}  // namespace loopbrick
