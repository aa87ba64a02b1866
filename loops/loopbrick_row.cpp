#include <fmt/format.h>
#include <memory>
#include <vector>

#include "loops/buffer_pool.h"
#include "loops/call_table.h"
#include "loops/plan.h"
#include "problems/operands.h"

namespace loopbrick {

namespace {

BufferPool& pool() {
  static BufferPool buffers;
  return buffers;
}

/// A plan with buffers of its own for every operand.
struct Prepared {
  Prepared(const Problem& problem, const Schedule& schedule, const Conditions& conditions,
           KernelCache& kernels)
      : list(operands(problem)),
        plan(problem, schedule, conditions, kernels),
        pages(conditions.pages),
        workspace(plan.workspace_bytes(), pages) {
    for (int i = 0; i < static_cast<int>(list.size()); ++i) {
      buffers.push_back(pool().take(plan.laid_out_bytes(i), pages));
      pointers.push_back(buffers.back().data());
    }
  }
  ~Prepared() {
    for (GuardedBuffer& buffer : buffers) pool().give(std::move(buffer), pages);
  }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  void load(const Arrays& arrays) const {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!list[i].output) plan.lay_out(static_cast<int>(i), arrays[i], buffers[i].floats());
      if (list[i].output) poison(buffers[i].floats());
    }
  }
  void unload(const Arrays& arrays) const {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].output) plan.take_back(static_cast<int>(i), buffers[i].floats(), arrays[i]);
    }
  }
  static void poison(std::span<float> values) {
    for (float& value : values) value = __builtin_nanf("");
  }

  std::vector<Operand> list;
  Plan plan;
  Pages pages;
  GuardedBuffer workspace;
  std::vector<GuardedBuffer> buffers;
  std::vector<void*> pointers;
};

std::string tile_text(const Plan& plan, Isa isa) {
  for (const auto& kernel : plan.table().all()) {
    if (kernel == nullptr) continue;
    const RegisterTile tile = register_tile(kernel->spec());
    return fmt::format("{} {}x{}", to_string(isa), tile.rows, tile.cols);
  }
  return std::string(to_string(isa));
}

bool packs(const Schedule& schedule) {
  for (const Element& element : schedule.steps[0].elements) {
    if (element.is_pack()) return true;
  }
  return false;
}

std::variant<Runnable, Refusal> prepare(const Problem& problem, std::string_view choice,
                                        const Conditions& conditions) {
  static KernelCache kernels;  // candidates of one search share most of their kernels
  const Schedule schedule = parse_schedule(choice);
  if (const auto no = why_not(problem, schedule, conditions)) return *no;
  const auto prepared = std::make_shared<Prepared>(problem, schedule, conditions, kernels);
  Runnable runnable;
  runnable.implementation = tile_text(prepared->plan, conditions.isa);
  runnable.included = packs(schedule) ? "packing of x" : "";
  runnable.executed_flops = prepared->plan.executed_flops();
  runnable.workspace_bytes = prepared->plan.workspace_bytes();
  runnable.load = [prepared](const Arrays& arrays) { prepared->load(arrays); };
  runnable.run = [prepared] {
    prepared->plan.run(prepared->pointers, prepared->workspace.bytes());
  };
  runnable.unload = [prepared](const Arrays& arrays) { prepared->unload(arrays); };
  return runnable;
}

std::string version() { return fmt::format("generator {}", kGeneratorVersion); }

}  // namespace

const Implementation kLoopbrick{
    "loopbrick", "our loops around the batch-reduce GEMM, run by a schedule", version, prepare};

}  // namespace loopbrick
