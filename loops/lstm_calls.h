#pragma once
#include <cstdint>
#include <vector>

#include "loops/call_table.h"
#include "loops/rounds.h"

namespace loopbrick {

/// One product of an LSTM made ready: the rounds of its step, and the kernel calls they make.
///
/// Needs    why_not has nothing against the step; `contraction` knows where B lies.
/// Threads  const members may be called at once.
class LstmCalls {
 public:
  LstmCalls(const Contraction& contraction, const Step& step, const PostOps& post,
            const Conditions& conditions, KernelCache& kernels);

  using Operands = CallTable::Operands;

  /// All calls of thread `number`. `scratch` holds table().longest_batch() addresses.
  void run(int number, const Operands& operands, BatchAddress* scratch,
           bool adds = false) const noexcept;

  /// The call of one round; with `adds` on top of what C holds. A bias is [g][k].
  void call(const Ranges& ranges, const Operands& operands, BatchAddress* scratch,
            bool adds = false) const noexcept;

  /// Does this round finish its tile's sum?
  bool finishes(const Ranges& ranges) const noexcept;

  /// Every axis from 0 to its extent.
  Ranges whole() const;

  const CallTable& table() const { return table_; }
  const Rounds& rounds() const { return rounds_; }

 private:
  struct Place {
    std::size_t axis = 0;
    AxisAccess a, b, c;
    std::int64_t bias = 0;
  };
  static std::vector<Place> places_of(const Contraction& contraction);

  Contraction contraction_;
  std::vector<Place> places_;  ///< of the axes that the product has
  std::vector<std::size_t> sums_;
  Few<Axis, 2> outer_;
  Rounds rounds_;
  CallTable table_;
};

}  // namespace loopbrick
