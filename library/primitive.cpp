#include "library/primitive.h"

#include <fmt/format.h>
#include <span>
#include <utility>

#include "kernels/kernel_cache.h"
#include "kernels/text.h"
#include "library/chosen_schedule.h"
#include "loops/guarded_buffer.h"
#include "loops/plan.h"
#include "measure/machine.h"
#include "problems/operands.h"

namespace loopbrick {

namespace {

constexpr std::int64_t kLine = 64;

Conditions conditions_of(const PrimitiveOptions& options) {
  if (options.threads < 0)
    throw ParseError(fmt::format(
        "{} threads; there must be at least 1, or 0 for as many as may run", options.threads));
  const Isa isa = options.isa.empty() ? best_isa() : parse_isa(options.isa);
  if (isa > best_isa())
    throw ParseError(fmt::format("this CPU has no {}; it runs at most {}", to_string(isa),
                                 to_string(best_isa())));
  return {.threads = options.threads > 0 ? options.threads : available_threads(),
          .isa = isa,
          .transposes_once = options.transposes_once};
}

/// Errors  throws ParseError that shows the schedule and what is wrong with it.
Schedule checked(const Problem& problem, const Conditions& conditions, const std::string& text) {
  try {
    const Schedule schedule = parse_schedule(text);
    if (const auto no = why_not(problem, schedule, conditions)) throw ParseError(to_string(*no));
    return schedule;
  } catch (const ParseError& error) {
    throw ParseError(fmt::format("schedule '{}': {}", text, error.what()));
  }
}

std::int64_t whole_lines(std::int64_t bytes) {
  return saturating_product(saturating_sum(bytes, kLine - 1) / kLine, kLine);
}

std::span<const float> whole(const float* data, std::int64_t elements) {
  return {data, static_cast<std::size_t>(elements)};
}
std::span<float> whole(float* data, std::int64_t elements) {
  return {data, static_cast<std::size_t>(elements)};
}

constexpr std::int64_t kFloat = sizeof(float);

/// Errors  throws ParseError unless there is one pointer for each operand and none is null.
void require(const std::vector<PrimitiveOperand>& operands, const auto& pointers,
             const char* side) {
  if (pointers.size() != operands.size())
    throw ParseError(
        fmt::format("there are {} {}, not {}", operands.size(), side, pointers.size()));
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (pointers[i] == nullptr) throw ParseError(fmt::format("{} is null", operands[i].name));
  }
}

void require_aligned(const std::vector<PrimitiveOperand>& operands, const auto& pointers,
                     const char* side) {
  require(operands, pointers, side);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (reinterpret_cast<std::uintptr_t>(pointers[i]) % static_cast<std::uintptr_t>(kLine) != 0)
      throw ParseError(fmt::format("{} is not aligned to 64 bytes", operands[i].name));
  }
}

const PrimitiveOperand& at(const std::vector<PrimitiveOperand>& operands, std::size_t index,
                           const char* side) {
  if (index < operands.size()) return operands[index];
  throw ParseError(fmt::format("there are {} {}: {} is none", operands.size(), side, index));
}

}  // namespace

class Primitive::Impl {
 public:
  Impl(const Problem& what, const Conditions& under, ChosenSchedule by)
      : problem(to_string(what)),
        conditions(to_string(under)),
        chosen(std::move(by)),
        flops(loopbrick::flops(what)),
        plan(make_plan(what, under, chosen.schedule)),
        workspace(plan.workspace_bytes(), under.pages) {
    const std::vector<Operand> all = operands(what);
    for (std::size_t i = 0; i < all.size(); ++i) {
      (all[i].output ? outputs : inputs)
          .push_back({.name = std::string(all[i].name),
                      .extents = all[i].extents,
                      .elements = elements(all[i]),
                      .bytes = whole_lines(plan.laid_out_bytes(static_cast<int>(i)))});
    }
  }

  /// In the order that a plan takes, which only reads the inputs.
  static std::vector<void*> joined(const std::vector<const float*>& in,
                                   const std::vector<float*>& out) {
    std::vector<void*> all;
    for (const float* one : in) all.push_back(const_cast<float*>(one));
    all.insert(all.end(), out.begin(), out.end());
    return all;
  }

  const std::string problem, conditions;
  const ChosenSchedule chosen;
  const double flops;
  const Plan plan;
  const GuardedBuffer workspace;
  std::vector<PrimitiveOperand> inputs, outputs;

 private:
  static Plan make_plan(const Problem& what, const Conditions& under, const std::string& schedule) {
    KernelCache kernels;  // the plan keeps those that it needs
    return {what, checked(what, under, schedule), under, kernels};
  }
};

Primitive::Primitive(const std::string& problem, const PrimitiveOptions& options) {
  const Conditions conditions = conditions_of(options);
  const Problem parsed = parse_problem(problem, {.minibatch = conditions.threads});
  impl_ = std::make_unique<Impl>(
      parsed, conditions, choose_schedule(parsed, conditions, options.schedule, options.wisdom));
}

Primitive::~Primitive() = default;
Primitive::Primitive(Primitive&&) noexcept = default;
Primitive& Primitive::operator=(Primitive&&) noexcept = default;

const std::string& Primitive::problem() const { return impl_->problem; }
const std::string& Primitive::conditions() const { return impl_->conditions; }
const std::string& Primitive::schedule() const { return impl_->chosen.schedule; }
const std::string& Primitive::origin() const { return impl_->chosen.origin; }
double Primitive::flops() const { return impl_->flops; }
double Primitive::stored_seconds() const { return impl_->chosen.seconds; }
const std::vector<PrimitiveOperand>& Primitive::inputs() const { return impl_->inputs; }
const std::vector<PrimitiveOperand>& Primitive::outputs() const { return impl_->outputs; }

void Primitive::lay_out(std::size_t input, const float* plain, float* own) const {
  const PrimitiveOperand& operand = at(impl_->inputs, input, "inputs");
  impl_->plan.lay_out(static_cast<int>(input), whole(plain, operand.elements),
                      whole(own, operand.bytes / kFloat));
}

void Primitive::take_back(std::size_t output, const float* own, float* plain) const {
  const PrimitiveOperand& operand = at(impl_->outputs, output, "outputs");
  impl_->plan.take_back(static_cast<int>(impl_->inputs.size() + output),
                        whole(own, operand.bytes / kFloat), whole(plain, operand.elements));
}

void Primitive::prepare(const std::vector<const float*>& inputs) {
  require_aligned(impl_->inputs, inputs, "inputs");
  const std::vector<float*> none(impl_->outputs.size());
  impl_->plan.prepare(Impl::joined(inputs, none), impl_->workspace.bytes());
}

void Primitive::run(const std::vector<const float*>& inputs, const std::vector<float*>& outputs) {
  require_aligned(impl_->inputs, inputs, "inputs");
  require_aligned(impl_->outputs, outputs, "outputs");
  impl_->plan.run(Impl::joined(inputs, outputs), impl_->workspace.bytes());
}

void Primitive::compute(const std::vector<const float*>& inputs,
                        const std::vector<float*>& outputs) {
  require(impl_->inputs, inputs, "inputs");
  require(impl_->outputs, outputs, "outputs");
  std::vector<GuardedBuffer> buffers;
  const auto buffer_for = [&buffers](const PrimitiveOperand& operand) {
    buffers.emplace_back(operand.bytes, Pages::small);
    return buffers.back().floats().data();
  };
  std::vector<const float*> own_inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    float* const own = buffer_for(impl_->inputs[i]);
    lay_out(i, inputs[i], own);
    own_inputs.push_back(own);
  }
  std::vector<float*> own_outputs;
  for (const PrimitiveOperand& operand : impl_->outputs) own_outputs.push_back(buffer_for(operand));
  prepare(own_inputs);
  run(own_inputs, own_outputs);
  for (std::size_t i = 0; i < outputs.size(); ++i) take_back(i, own_outputs[i], outputs[i]);
}

std::string library_version() { return LOOPBRICK_VERSION; }

}  // namespace loopbrick
