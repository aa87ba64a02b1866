#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <vector>

#include "loops/operand_store.h"
#include "loops/plan.h"
#include "loops/step_facts.h"
#include "problems/operands.h"

namespace loopbrick {

namespace {

OperandStore& store() {
  static OperandStore operands;
  return operands;
}

/// A plan with its operands. Warm candidates share them; each copy of a cold one has its own.
struct Prepared {
  Prepared(const Problem& problem, const Schedule& schedule, const Conditions& conditions,
           KernelCache& kernels)
      : list(operands(problem)),
        plan(problem, schedule, conditions, kernels),
        workspace(plan.workspace_bytes(), conditions.pages) {
    const std::string name = to_string(problem);
    for (int i = 0; i < static_cast<int>(list.size()); ++i) {
      const std::int64_t bytes = plan.laid_out_bytes(i);
      laid_out.push_back(conditions.cache == CacheState::warm
                             ? store().take({name, i, plan.layout(i), conditions.pages}, bytes)
                             : std::make_shared<LaidOutOperand>(bytes, conditions.pages));
      pointers.push_back(laid_out.back()->data());
    }
  }

  void load(const Arrays& arrays) const {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].output) {
        poison(laid_out[i]->floats());
        continue;
      }
      laid_out[i]->load(arrays[i], [this, i](std::span<const float> plain, std::span<float> own) {
        plan.lay_out(static_cast<int>(i), plain, own);
      });
    }
    plan.prepare(pointers, workspace.bytes());
  }
  void unload(const Arrays& arrays) const {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].output) plan.take_back(static_cast<int>(i), laid_out[i]->floats(), arrays[i]);
    }
  }
  static void poison(std::span<float> values) {
    std::fill(values.begin(), values.end(), std::numeric_limits<float>::quiet_NaN());
  }

  std::vector<Operand> list;
  Plan plan;
  GuardedBuffer workspace;
  std::vector<std::shared_ptr<LaidOutOperand>> laid_out;
  std::vector<void*> pointers;
};

std::string tile_text(const Plan& plan, Isa isa) {
  for (const auto& kernel : plan.generated()) {
    if (kernel == nullptr) continue;
    const RegisterTile tile = register_tile(kernel->spec());
    return fmt::format("{} {}x{}", to_string(isa), tile.rows, tile.cols);
  }
  return std::string(to_string(isa));
}

/// What run does besides the nest.
std::string included(const Problem& problem, const Schedule& schedule) {
  std::string text = problem.pass == Pass::bwd_d
                         ? (transposes_once(schedule) ? "" : "transposition of w")
                     : problem.pass == Pass::bwd ? "transposition of w and r"
                                                 : "";
  const auto add = [&text](const char* what) {
    text += (text.empty() ? "" : ", ") + std::string(what);
  };
  if (problem.pass == Pass::bwd_d || problem.pass == Pass::bwd_w) {
    if (problem.activation != Activation::none) add("derivative of the activation");
    if (problem.bias) add("gradient of the bias");
  }
  for (const Element& element : main_step(schedule).elements) {
    if (element.pack.operand[0] == 'x') add("packing of x");
    if (element.pack.operand[0] == 'd') add("packing of dy");
    if (element.loop.private_sum) add("sum of private results");
  }
  return text;
}

std::variant<Runnable, Refusal> prepare(const Problem& problem, std::string_view choice,
                                        const Conditions& conditions) {
  static KernelCache kernels;  // candidates of one search share most of their kernels
  const Schedule schedule = parse_schedule(choice);
  if (const auto no = why_not(problem, schedule, conditions)) return *no;
  const auto prepared = std::make_shared<Prepared>(problem, schedule, conditions, kernels);
  Runnable runnable;
  runnable.implementation = tile_text(prepared->plan, conditions.isa);
  runnable.included = included(problem, schedule);
  runnable.executed_flops = prepared->plan.executed_flops();
  runnable.workspace_bytes = prepared->plan.workspace_bytes();
  for (const auto& kernel : prepared->plan.generated()) {
    if (kernel != nullptr) runnable.kernels.push_back(kernel);
  }
  runnable.load = [prepared](const Arrays& arrays) { prepared->load(arrays); };
  runnable.run = [prepared] {
    prepared->plan.run(prepared->pointers, prepared->workspace.bytes());
  };
  runnable.unload = [prepared](const Arrays& arrays) { prepared->unload(arrays); };
  return runnable;
}

std::string version() { return fmt::format("generator {}", kGeneratorVersion); }

}  // namespace

const Implementation kLoopbrick{"loopbrick",
                                "our loops around the batch-reduce GEMM, run by a schedule",
                                version, prepare, true};

}  // namespace loopbrick
