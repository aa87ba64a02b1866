#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/few.h"
#include "loops/schedule.h"
#include "problems/problem.h"
#include "problems/refusal.h"

namespace loopbrick {

inline constexpr std::string_view kAxisLetters = "bcfghkmnpqrstw";
inline constexpr int kAxisCount =
    15;  ///< one place for each letter, and the last for the flattened pq
inline constexpr int kFlattened = kAxisCount - 1;
inline constexpr std::int64_t kNoAxis = -1;

/// The place of an axis in the arrays below; Axis::none has none.
constexpr int index_of(Axis axis) {
  constexpr auto kPlaces = [] {
    std::array<std::int8_t, 128> places{};
    for (std::size_t i = 0; i < kAxisLetters.size(); ++i) {
      places[static_cast<std::size_t>(kAxisLetters[i])] = static_cast<std::int8_t>(i);
    }
    return places;
  }();
  return kPlaces[static_cast<std::size_t>(axis)];
}

/// The same as an index.
constexpr std::size_t place(Axis axis) { return static_cast<std::size_t>(index_of(axis)); }

/// Where index i of one axis lies in an operand: (i / block) * outer + (i % block) * inner; block
/// 0: i * inner.
///
/// Units  elements.
struct AxisAccess {
  std::int64_t inner = 0;
  std::int64_t block = 0;
  std::int64_t outer = 0;

  std::int64_t offset(std::int64_t i) const {
    return block == 0 ? i * inner : (i / block) * outer + (i % block) * inner;
  }
};

/// One operand of the contraction: the offset of an element is the sum over the axes.
using Access = std::array<AxisAccess, kAxisCount>;

/// Input row of output row `out` and filter row `tap`: out * stride + tap * dilation - pad, on the
/// image if in [0, extent).
struct Border {
  Axis out = Axis::none;
  Axis tap = Axis::none;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad = 0;
  std::int64_t extent = 1;
  std::int64_t pitch = 0;  ///< elements of A between two neighbours on the image

  std::int64_t input(std::int64_t o, std::int64_t t) const {
    return o * stride + t * dilation - pad;
  }
};

/// One stride phase of a pass backward by data: the input pixels (f_h + stride_h * i, f_w +
/// stride_w * j), which the same few taps reach. A phase is a convolution of stride 1 of dy.
struct Phase {
  std::int64_t lines = 1, rows = 1;               ///< of i and j
  std::int64_t first_down = 0, first_across = 0;  ///< its first tap, as the weights lie
  std::int64_t taps_down = 1, taps_across = 1;
  bool is_empty = false;  ///< no tap reaches its pixels: their gradient is 0
  Few<Border, 2> borders;
  std::int64_t a_origin = 0, c_origin = 0;
};

/// Neighbouring pixels of few channels that a pass by data takes as columns of one call, so that a
/// vector is full: column g * channels + c is channel c of pixel g of a group. Each of the taps 0,
/// 1,
/// ... of a group reaches one pixel of dy, and meets a tap of the filter for some of the g only:
/// elsewhere its weight is 0.
struct PixelGroup {
  std::int64_t pixels = 1;  ///< 1: no groups
  std::int64_t taps = 1;
  std::int64_t stride = 1, dilation = 1, pad = 0, filter = 1;  ///< of the convolution, across
  std::int64_t first = 0;  ///< pixel of dy that tap 0 reaches from group 0

  /// The tap of the filter by which pixel g meets what tap t reaches, or -1.
  std::int64_t filter_tap(std::int64_t g, std::int64_t t) const {
    const std::int64_t reach = g + pad - stride * (first + t);
    const bool meets = reach >= 0 && reach % dilation == 0 && reach / dilation < filter;
    return meets ? reach / dilation : -1;
  }
};

/// What every primitive is to the loops: C[outputs] = sum over the summed axes of A * B.
///
/// `columns` is the vector dimension of C and B. Rows of one call are the last steps of `line` and
/// `row` (pixels: p and q; a GEMM has rows m only, and no line). Only `depth` may be the depth of a
/// batch entry.
struct Contraction {
  Contraction() { extents.fill(kNoAxis); }

  std::array<std::int64_t, kAxisCount>
      extents;  ///< kNoAxis: the problem has no such axis; 0: an empty sum
  Few<Axis, 5> outputs;
  Few<Axis, 5> sums;
  Axis columns = Axis::none;
  Axis line = Axis::none;
  Axis row = Axis::none;
  Axis depth = Axis::none;
  Few<Border, 2> borders;  ///< of line and row, in this order; empty for a GEMM
  /// Of a pass by weights: each filter tap (an output) sums those pixels only that it meets on the
  /// image.
  Few<Border, 2> clips;
  /// Of a strided pass by data, along the axis f; extents and borders are then those of the largest
  /// phase.
  std::vector<Phase> phases;
  std::int64_t tap_step_down = 1, tap_step_across = 1;  ///< of the weights, between taps of a phase
  std::int64_t filter_down = 1, filter_across = 1;      ///< taps of the weights as they lie
  PixelGroup group;
  Access a{};
  std::int64_t a_origin =
      0;  ///< of the tap on pixel (0, 0) with all indices 0: before the image by the padding
  Access c{};
  Access b{};                      ///< as given; unused when `plan_lays_out_b`
  bool plan_lays_out_b = false;    ///< weights: the schedule decides how B lies
  bool b_is_transposed = false;    ///< the weights come as the forward pass wants them
  bool has_private_sums = false;   ///< threads may share a sum: C is nothing but the sum
  std::int64_t depth_block = 0;    ///< a depth must not cross it in A; 0: none
  std::int64_t columns_block = 0;  ///< nor a tile of columns in C
  std::int64_t row_block = 0;      ///< nor the rows of a call in A

  std::int64_t extent(Axis axis) const { return extents[place(axis)]; }
  bool has(Axis axis) const { return extent(axis) != kNoAxis; }
  bool is_sum(Axis axis) const;
  bool is_at_border(std::size_t axis) const;  ///< counted by pairs(): pixels, taps and phases

  /// True if some tap of some output pixel lies on padding; likewise along lines only. Phases that
  /// no tap reaches don't count.
  bool has_rim() const;
  bool has_rim_down() const;

  /// The contraction of one phase; itself if there are none.
  Contraction in_phase(std::size_t phase) const;

  /// Pairs of output pixel and tap, and those of them on the image, over all phases.
  double pairs() const;
  double pairs_on_image() const;
};

/// The contraction of a problem, or why there is none: one function a primitive and pass.
std::variant<Contraction, Refusal> contraction(const Problem& problem);

}  // namespace loopbrick
