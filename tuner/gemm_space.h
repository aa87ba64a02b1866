#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/brgemm_spec.h"
#include "loops/contraction.h"
#include "loops/schedule.h"
#include "problems/conditions.h"
#include "tuner/space.h"

namespace loopbrick {

/// The schedules of a matrix product, a batch-reduce GEMM or one pass of a fully connected layer:
/// blocks of rows, tiles of rows and columns in either order, what of the depth is in one call, the
/// register tile, the batch's form and how rows and columns are shared.
///
/// Needs    a contraction without lines of pixels.
/// Threads  const members may be called at once.
class GemmSpace {
 public:
  GemmSpace(const Contraction& contraction, const Conditions& conditions);

  std::vector<Choice> choices() const;
  std::optional<Refusal> why_not(const Point& point) const;
  Schedule schedule(const Point& point) const;

 private:
  enum Place {
    kCols,
    kDepth,
    kSum,
    kForm,
    kAhead,
    kRows,
    kOuter,
    kOrder,
    kShare,
    kWays,
    kPack,
    kTile,
    kPlaces
  };
  enum class Share : std::uint8_t { none, rows, columns, both };
  template <typename T>
  static const T& chosen(const std::vector<T>& values, const Point& point, Place place) {
    return values[point[place]];
  }
  std::int64_t rows_around(const Point& point) const;
  std::int64_t entries(const Point& point) const;
  std::optional<Refusal> why_not_sum(const Point& point) const;
  std::optional<Refusal> why_not_form(const Point& point) const;
  std::optional<Refusal> why_not_ahead(const Point& point) const;
  std::optional<Refusal> why_not_outer(const Point& point) const;
  std::optional<Refusal> why_not_order(const Point& point) const;
  std::optional<Refusal> why_not_share(const Point& point) const;
  std::optional<Refusal> why_not_ways(const Point& point) const;
  std::optional<Refusal> why_not_pack(const Point& point) const;
  std::optional<Refusal> why_not_tile(const Point& point) const;
  Loop loop_rows(const Point& point, int step) const;
  Loop loop_columns(const Point& point) const;
  char letter(Axis axis) const { return static_cast<char>(axis); }

  Axis row_, column_, depth_;
  std::int64_t rows_extent_ = 1, columns_extent_ = 1, depth_extent_ = 1, batch_ = 1;
  std::int64_t depth_block_ = 0;
  Conditions conditions_;
  bool transposes_once_ = false;
  std::vector<int> cols_, depths_, sums_, aheads_, rows_, outers_, orders_, ways_;
  std::vector<BatchForm> forms_;
  std::vector<Share> shares_;
  std::vector<std::uint8_t> packs_;  ///< the weights, transposed, in the loop over columns
  std::vector<RegisterTile> tiles_;
};

}  // namespace loopbrick
