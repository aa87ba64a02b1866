#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/brgemm_spec.h"
#include "loops/contraction.h"
#include "loops/schedule.h"
#include "problems/conditions.h"
#include "problems/problem.h"
#include "tuner/loop_orders.h"
#include "tuner/space.h"

namespace loopbrick {

/// The schedules of a convolution, forward or backward by data: what can be chosen, which choices
/// go together, and what a point means. One step, one call:
///
///     loops over n, blocks of k, pieces of p, k, p, q (or flattened pq) and parts of c, in any
///     order; a grid of them shared by the threads; a copy of x at some level; @ c DEPTH * c r s
///
/// A pass by data is planned as the convolution of dy that it is, in the letters of the forward
/// pass (by_data_letters.h gives it its own), with one choice more: where the weights are
/// transposed. Everything is kept as tables of small integers, so that why_not takes a few
/// nanoseconds. Needs    the contraction of a fwd or bwd_d convolution. Threads  const members may
/// be called at once.
class ConvSpace {
 public:
  ConvSpace(const Contraction& contraction, const Conditions& conditions);

  std::vector<Choice> choices() const;
  std::optional<Refusal> why_not(const Point& point) const;
  Schedule schedule(const Point& point) const;

  /// The point that means this schedule, or nothing if its values are not among the choices. The
  /// rules are not asked.
  std::optional<Point> point(const Schedule& schedule) const;

  std::uint64_t state(const Point& point) const;

 private:
  /// Pixels of one call: p lines of q, or q flattened ones.
  struct Pixels {
    bool flat = false;
    int p = 1;
    int q = 1;
  };
  struct Ways {
    int n = 0, k = 0, p = 0;  ///< all 0: dealt out flat
  };
  /// The choices in the order they are fixed: what concerns the sum first, then what prunes most,
  /// and last what has many values that are cheap to ask about.
  enum Place {
    kCols,
    kDepth,
    kSum,
    kTaps,
    kBatch,
    kAhead,
    kStream,
    kPixels,
    kKOuter,
    kPOuter,
    kOrder,
    kShare,
    kWays,
    kRotate,
    kPack,
    kWeights,
    kRim,
    kTile,
    kNext,
    kPlaces
  };
  enum class Taps : std::uint8_t { batch, r_looped, rs_looped };

  template <typename T>
  static const T& chosen(const std::vector<T>& values, const Point& point, Place place) {
    return values[point[place]];
  }

  void add_channels();
  void add_pixels();
  void add_tiles();
  void add_threads();
  std::int64_t lines_around(int p_outer) const { return p_outer == 0 ? conv_.p : p_outer; }
  std::int64_t columns_around(int k_outer) const { return k_outer == 0 ? conv_.k : k_outer; }

  bool is_flat_by_nature() const;

  bool is_read_again(const Point& point) const;
  bool has_rim() const { return rim_across_ || rim_down_; }
  std::int64_t entries(const Point& point) const;
  bool is_summed_at_once(const Point& point) const;
  bool has_regular_batch(const Point& point) const;
  Slots many(const Point& point) const;
  std::array<std::int64_t, kSlots> rounds(const Point& point) const;

  std::optional<Refusal> why_not_sum(const Point& point) const;
  std::optional<Refusal> why_not_tile(const Point& point) const;
  std::optional<Refusal> why_not_k_outer(const Point& point) const;
  std::optional<Refusal> why_not_p_outer(const Point& point) const;
  std::optional<Refusal> why_not_order(const Point& point) const;
  std::optional<Refusal> why_not_share(const Point& point) const;
  std::optional<Refusal> why_not_ways(const Point& point) const;
  std::optional<Refusal> why_not_pack(const Point& point) const;
  std::optional<Refusal> why_not_weights(const Point& point) const;
  std::optional<Refusal> why_not_rim(const Point& point) const;
  std::optional<Refusal> why_not_batch(const Point& point) const;
  std::optional<Refusal> why_not_rotate(const Point& point) const;
  std::optional<Refusal> why_not_stream(const Point& point) const;
  std::optional<Refusal> why_not_ahead(const Point& point) const;
  std::optional<Refusal> why_not_next(const Point& point) const;
  Axis next_axis(const Point& point) const;

  void add_loop(Step& step, const Point& point, Slot slot) const;
  void add_sum_loops(Step& step, const Point& point) const;
  void add_call(Step& step, const Point& point) const;
  Marks marks(const Point& point) const;

  Schedule forward_schedule(const Point& point) const;

  Conv conv_;  ///< of one phase
  Conditions conditions_;
  bool is_by_data_ = false;
  bool has_phases_ = false;
  int c_block_ = 1;
  int k_block_ = 1;
  bool rim_down_ = false;    ///< some filter row lies on padding for some line
  bool rim_across_ = false;  ///< likewise for columns
  bool is_flat_ = false;     ///< is_flat_by_nature()
  std::vector<int> cols_, depths_, sums_, k_outers_, p_outers_, aheads_;
  std::vector<Taps> taps_;
  std::vector<Pixels> pixels_;
  std::vector<RegisterTile> tiles_;
  std::vector<std::uint8_t> tile_fits_;   ///< [pixels][cols][tile]
  std::vector<std::uint8_t> tile_class_;  ///< [pixels][cols]: equal where the same tiles fit
  std::vector<Slots> shares_;
  std::vector<Ways> ways_;
  std::vector<std::optional<Slot>> packs_;  ///< behind which loop; nothing: no copy
  std::vector<Rim> rims_;
  std::vector<BatchForm> batches_;
  std::vector<std::uint8_t> rotates_, streams_, nexts_;
  std::vector<std::uint8_t> weights_;  ///< transposed panel by panel, in the loop over k
};

}  // namespace loopbrick
