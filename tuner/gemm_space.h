#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/brgemm_spec.h"
#include "loops/schedule.h"
#include "problems/conditions.h"
#include "problems/problem.h"
#include "tuner/space.h"

namespace loopbrick {

/// The schedules of a batch-reduce GEMM problem: blocks of m, tiles of m and n in either order,
/// what of k is in one call, the register tile, the batch's form and how m and n are shared.
///
/// Threads  const members may be called at once.
class GemmSpace {
 public:
  GemmSpace(const Problem& problem, const Conditions& conditions);

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
    kTile,
    kPlaces
  };
  enum class Share : std::uint8_t { none, m, n, both };
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
  std::optional<Refusal> why_not_tile(const Point& point) const;
  Loop loop_m(const Point& point, int step) const;
  Loop loop_n(const Point& point) const;

  Gemm gemm_;
  Conditions conditions_;
  std::vector<int> cols_, depths_, sums_, aheads_, rows_, outers_, orders_, ways_;
  std::vector<BatchForm> forms_;
  std::vector<Share> shares_;
  std::vector<RegisterTile> tiles_;
};

}  // namespace loopbrick
