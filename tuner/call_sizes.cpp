#include "tuner/call_sizes.h"

#include <cstdint>

#include "tuner/region.h"

namespace loopbrick {

namespace {

void add(Pieces& to, double size, double count) {
  if (size <= 0.0 || count <= 0.0) return;
  for (Piece& piece : to) {
    if (piece.size == size || to.full()) {
      piece.count += count * size / piece.size;
      return;
    }
  }
  to.push_back({size, count});
}

double extent(const Contraction& contraction, Axis axis) {
  return axis == Axis::none ? 1.0 : static_cast<double>(contraction.extent(axis));
}

}  // namespace

Pieces cut(const Pieces& pieces, double step) {
  Pieces result;
  for (const Piece& piece : pieces) {
    const auto whole = static_cast<double>(static_cast<std::int64_t>(piece.size / step));
    add(result, step, whole * piece.count);
    add(result, piece.size - whole * step, piece.count);
  }
  return result;
}

CallSizes call_sizes(const Contraction& contraction, const Step& step) {
  CallSizes sizes;
  sizes.columns.push_back({extent(contraction, contraction.columns), 1.0});
  sizes.lines.push_back({extent(contraction, contraction.line), 1.0});
  sizes.rows.push_back({extent(contraction, contraction.row), 1.0});
  Region region = whole_region(contraction);
  bool is_flat = false;
  for (int i = 0; i < step.elements.size(); ++i) {
    const Loop* loop = loop_at(step, i);
    if (loop == nullptr) continue;
    if (loop->fused != Axis::none && !is_flat) {
      is_flat = true;
      for (Piece& piece : sizes.lines) piece.size *= extent(contraction, contraction.row);
      sizes.rows = sizes.lines;
      sizes.lines = {{1.0, 1.0}};
    }
    if (loop->axis == contraction.columns) sizes.columns = cut(sizes.columns, loop->step);
    if (is_flat ? loop->fused != Axis::none : loop->axis == contraction.row) {
      sizes.rows = cut(sizes.rows, loop->step);
    } else if (loop->axis == contraction.line) {
      sizes.lines = cut(sizes.lines, loop->step);
    }
    if (contraction.is_sum(loop->axis)) {
      sizes.passes *= parts(around(region, *loop), loop->step);
    }
    shrink(region, *loop, loop->step);
  }
  return sizes;
}

}  // namespace loopbrick
