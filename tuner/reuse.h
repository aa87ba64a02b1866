#pragma once
#include "kernels/brgemm_spec.h"
#include "kernels/few.h"
#include "loops/contraction.h"
#include "loops/schedule.h"
#include "tuner/region.h"

namespace loopbrick {

/// Bytes of each operand.
struct OperandBytes {
  double a = 0.0, b = 0.0, c = 0.0;

  double all() const { return a + b + c; }
  OperandBytes times(double factor) const { return {a * factor, b * factor, c * factor}; }
};

/// Which axes each operand's size is the product of; A's rows and taps at a border are counted by
/// the border.
class Footprints {
 public:
  explicit Footprints(const Contraction& contraction);

  /// What a region touches, in whole cache lines. A row of pixels with gaps drags its neighbours
  /// along: the prefetchers of the caches see no gap. In a copy of A (`is_packed`) the pixels lie
  /// side by side.
  OperandBytes of(const Region& region, bool is_packed) const;

 private:
  /// Floats in the lines of A that a part of its channels touches, over the part.
  double whole_lines(const Region& region) const;

  Few<int, 6> a_axes_, b_axes_, c_axes_;
  int a_line_axis_ = -1;      ///< whose elements lie side by side in A
  double line_extent_ = 1.0;  ///< of that axis
  Few<Border, 2> borders_;    ///< of lines, then of pixels in a line
};

/// Reuse of the operands in a nest, as one thread runs it.
///
/// A nest is a list of levels, outermost first: the loops of the text, then what the kernel does
/// inside: columns of tiles, rows of tiles, batch entries. A level walks one axis of a region in
/// rounds; the region of one round is the region of the next level. Bytes that cross the border of
/// a cache follow from the inside out. As far as the footprint of one round fits the cache, an
/// operand that the next round reads again is still there: the level costs the union of its rounds.
/// The part that does not fit is paid in every round.
///
/// Source  reuse by working sets as in kerncraft's layer conditions
/// (doi:10.1007/978-3-319-56702-0_1).
class Reuse {
 public:
  /// `shares` is the part of each axis that the thread gets.
  Reuse(const Contraction& contraction, const Footprints& footprints, const Step& step,
        const Region& shares, Isa isa);

  /// Bytes read into and written from a cache of `usable` bytes in one run; a stream of C passes
  /// by.
  OperandBytes moved(double usable) const;

  OperandBytes whole() const { return whole_; }
  OperandBytes call() const { return call_; }            ///< of one call
  double packed_bytes() const { return packed_bytes_; }  ///< read by copies of A or B
  RegisterTile tile() const { return tile_; }

 private:
  struct Level {
    double rounds = 1.0;
    double inside = 0.0;  ///< bytes of one round
    OperandBytes grows;   ///< bytes of all rounds over those of one, where nothing is read twice
  };
  void add_level(Region& region, const Loop& loop, double step);
  void add_kernel_levels(Region& region, const Step& step, Isa isa);

  const Contraction& contraction_;
  const Footprints& footprints_;
  Few<Level, 20> levels_;  ///< those of several rounds
  OperandBytes whole_, call_;
  OperandBytes inside_;  ///< of one round of the innermost level so far
  RegisterTile tile_;
  double rounds_ = 1.0;  ///< of all levels so far
  double packed_bytes_ = 0.0;
  bool is_packed_ = false;
  bool streams_c_ = false;
};

/// Share of `bytes`, walked again and again, that a cache of `usable` bytes does not hold.
double miss_share(double bytes, double usable);

}  // namespace loopbrick
