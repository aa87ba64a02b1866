#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "loops/call_table.h"
#include "loops/contraction.h"
#include "loops/pack_copy.h"
#include "loops/schedule.h"
#include "loops/transposed_weights.h"
#include "problems/conditions.h"

namespace loopbrick {

/// How far an operand's offset moves when an axis moves.
struct Move {
  std::int64_t unit = 0;  ///< per element, if shift < 0
  int shift = -1;         ///< else the axis lies in blocks of 2^shift
  std::int64_t inner = 0;
  std::int64_t outer = 0;

  std::int64_t offset(std::int64_t i) const {
    return (i >> shift) * outer + (i & ((std::int64_t{1} << shift) - 1)) * inner;
  }
  std::int64_t between(std::int64_t from, std::int64_t to) const {
    return shift < 0 ? (to - from) * unit : offset(to) - offset(from);
  }
};

/// One step of a schedule made ready to run over a contraction: the loops as a flat list, and a
/// table of calls for each phase.
///
/// Three offsets move along with the loops; nothing is allocated while it runs. A sum that threads
/// share ("+") has one result for each way: the first is C, the others are added to it at the end.
/// Needs    why_not has nothing against the step.
/// Threads  run starts `conditions.threads` OpenMP threads.
class Nest {
 public:
  Nest(const Contraction& contraction, const Step& step, const PostOps& post,
       const Conditions& conditions, KernelCache& kernels);

  using Operands = CallTable::Operands;
  void run(const Operands& operands, std::byte* workspace) const noexcept;

  std::int64_t workspace_bytes() const;
  std::int64_t barriers() const { return results_ > 0 ? 2 : 1; }    ///< before the sum, at the end
  const std::vector<CallTable>& tables() const { return tables_; }  ///< one for each phase

 private:
  struct Level {
    enum class Kind { serial, grid, pack, phases };
    Kind kind = Kind::serial;
    std::size_t axis = 0;
    std::int64_t step = 1;
    std::int64_t ways = 0;
    bool is_private = false;       ///< a sum with one result for each way
    int clip = -1;                 ///< of a loop over filter taps: the pixels that each tap meets
    int grid = 0;                  ///< of the first loop of a grid: how many loops it has
    bool rotated = false;          ///< starts where the thread's share of the rounds starts
    bool opens_flattened = false;  ///< the outermost loop over pq: its range is that of p
    Move a, b, c;
  };
  struct Offsets {
    std::int64_t a = 0, b = 0, c = 0;
  };
  struct Thread {
    Ranges ranges{};
    Ranges own{};     ///< what this thread has of each axis: all, or its way's share of a sum
    Ranges summed{};  ///< of that, what the tap meets: where C is overwritten, and finished
    std::array<Range, 2> unclipped{};
    std::size_t phase = 0;
    Operands operands{};
    int number = 0;
    float* packed = nullptr;
    float* results = nullptr;  ///< of all ways but the first
    BatchAddress* addresses = nullptr;
    std::atomic<std::int64_t>* next_cell = nullptr;
  };

  void add_levels();
  void find_workspace();
  Level level(const Element& element, int at) const;
  Move move(const AxisAccess& access, std::int64_t step, std::int64_t around) const;

  Offsets enter(const Level& level, const Range& whole, std::int64_t begin, Thread& thread,
                const Offsets& offsets) const noexcept;
  void leave(const Level& level, const Range& whole, Thread& thread) const noexcept;
  Offsets clip(int clip, std::int64_t tap, Thread& thread, const Offsets& offsets) const noexcept;
  bool misses_image(const Thread& thread) const noexcept;

  void walk_all(int number, Thread& thread) const noexcept;
  void add_results(int number, float* c, const float* results) const noexcept;
  void walk(std::size_t at, Thread& thread, const Offsets& offsets) const noexcept;
  void walk_rounds(std::size_t at, Thread& thread, const Offsets& offsets) const noexcept;
  void walk_grid(std::size_t at, Thread& thread, const Offsets& offsets) const noexcept;
  void walk_ways(std::size_t at, int left, int number, Thread& thread,
                 const Offsets& offsets) const noexcept;
  void walk_cell(std::size_t at, std::int64_t cell, Thread& thread,
                 const Offsets& offsets) const noexcept;
  void walk_phases(std::size_t at, Thread& thread, const Offsets& offsets) const noexcept;
  void pack(std::size_t at, Thread& thread, const Offsets& offsets) const noexcept;
  void pack_weights(std::size_t at, Thread& thread, const Offsets& offsets) const noexcept;
  void call(Thread& thread, const Offsets& offsets) const noexcept;
  std::int64_t rounds(const Level& level, const Thread& thread) const noexcept;
  Range open(const Level& level, Thread& thread) const noexcept;

  Contraction contraction_;
  Step step_;
  int threads_ = 1;
  bool dynamic_ = false;
  bool flattened_ = false;
  std::vector<Level> levels_;
  std::vector<std::size_t> looped_sums_;
  std::unique_ptr<PackCopy> pack_;
  std::optional<TransposedWeights> panel_;  ///< pack(w'), of backward by data
  std::vector<CallTable> tables_;
  std::vector<std::int64_t> b_origins_;  ///< of each phase
  std::int64_t packed_bytes_ = 0;
  std::int64_t bytes_a_thread_ = 0;
  std::int64_t results_ = 0;  ///< private results beside C
  std::int64_t elements_of_c_ = 0;
  std::int64_t result_elements_ = 0;  ///< of one, in whole cache lines
};

}  // namespace loopbrick
