#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/brgemm_spec.h"
#include "loops/contraction.h"
#include "loops/schedule.h"
#include "problems/conditions.h"
#include "tuner/space.h"

namespace loopbrick {

/// The schedules of a convolution backward by weights. One step, one call:
///
///     loops over images, blocks of lines, tiles of k and c and the filter's taps in any order; a
///     grid of them shared by the threads, images and lines with a gradient for each way;
///     @ q DEPTH * q p n
///
/// Needs    the contraction of a bwd_w convolution.
/// Threads  const members may be called at once.
class ConvWeightsSpace {
 public:
  ConvWeightsSpace(const Contraction& contraction, const Conditions& conditions);

  std::vector<Choice> choices() const;
  std::optional<Refusal> why_not(const Point& point) const;
  Schedule schedule(const Point& point) const;

  /// The point that has this schedule; nothing if none has.
  std::optional<Point> point(const Schedule& schedule) const;

 private:
  enum Place {
    kCols,
    kRows,
    kDepth,
    kLines,
    kImages,
    kForm,
    kAhead,
    kOrder,
    kShare,
    kWays,
    kTile,
    kPlaces
  };
  /// The loops that there may be; the taps r and s stand together.
  enum class Slot : std::uint8_t { n, p, k, c, taps };
  static constexpr int kSlots = 5;
  using Order = std::array<Slot, kSlots>;
  using Slots = std::uint8_t;
  static constexpr Slots bit(Slot slot) {
    return static_cast<Slots>(1U << static_cast<unsigned>(slot));
  }

  template <typename T>
  static const T& chosen(const std::vector<T>& values, const Point& point, Place place) {
    return values[point[place]];
  }
  void add_sizes(const Contraction& contraction);
  void add_threads();
  std::int64_t rounds(const Point& point, Slot slot) const;
  Slots many(const Point& point) const;
  std::int64_t entries(const Point& point) const;

  std::optional<Refusal> why_not_images(const Point& point) const;
  std::optional<Refusal> why_not_form(const Point& point) const;
  std::optional<Refusal> why_not_ahead(const Point& point) const;
  std::optional<Refusal> why_not_order(const Point& point) const;
  std::optional<Refusal> why_not_share(const Point& point) const;
  std::optional<Refusal> why_not_ways(const Point& point) const;
  std::optional<Refusal> why_not_tile(const Point& point) const;

  bool refuses_any_prefix(const Point& point) const;
  Loop loop(const Point& point, Slot slot) const;
  void add_loops(Step& step, const Point& point, Slot slot) const;

  std::int64_t n_ = 1, p_ = 1, q_ = 1, k_ = 1, c_ = 1, r_ = 1, s_ = 1;
  bool walks_r_ = false, walks_s_ = false;  ///< several taps, or one that misses some pixels
  Conditions conditions_;
  std::vector<int> cols_, rows_, depths_, lines_, aheads_, ways_;
  std::vector<std::uint8_t> images_;  ///< the batch walks them
  std::vector<BatchForm> forms_;
  std::vector<Order> orders_;
  std::vector<Slots> shares_;
  std::vector<RegisterTile> tiles_;
};

}  // namespace loopbrick
