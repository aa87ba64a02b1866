#include "tuner/reuse.h"

#include <algorithm>
#include <cmath>

namespace loopbrick {

namespace {

constexpr double kFloat = 4.0;

constexpr double kLine = 16.0;  ///< floats of a cache line

double product(const Region& region, const Few<int, 6>& axes) {
  double bytes = kFloat;
  for (const int axis : axes) bytes *= region.size[static_cast<std::size_t>(axis)];
  return bytes;
}

}  // namespace

double miss_share(double bytes, double usable) {
  return usable <= 0.0 || bytes <= usable ? 0.0 : 1.0 - usable / bytes;
}

Footprints::Footprints(const Contraction& contraction)
    : borders_(contraction.clips.empty() ? contraction.borders : contraction.clips) {
  const auto is_at_border = [this](Axis axis) {
    return std::any_of(borders_.begin(), borders_.end(), [axis](const Border& border) {
      return border.out == axis || border.tap == axis;
    });
  };
  for (const Axis axis : contraction.outputs) {
    c_axes_.push_back(index_of(axis));
    if (axis != contraction.columns && axis != Axis::f && !is_at_border(axis))
      a_axes_.push_back(index_of(axis));
  }
  b_axes_.push_back(index_of(contraction.columns));
  for (const Axis axis : contraction.sums) {
    b_axes_.push_back(index_of(axis));
    if (!is_at_border(axis)) a_axes_.push_back(index_of(axis));
  }
  for (const int axis : a_axes_) {
    if (contraction.a[static_cast<std::size_t>(axis)].inner == 1) {
      a_line_axis_ = axis;
      line_extent_ = static_cast<double>(contraction.extents[static_cast<std::size_t>(axis)]);
    }
  }
}

double Footprints::whole_lines(const Region& region) const {
  const double size = region.size[static_cast<std::size_t>(a_line_axis_)];
  const double lines = std::min(std::ceil(size / kLine) * kLine, line_extent_);
  return std::max(1.0, lines / size);
}

OperandBytes Footprints::of(const Region& region, bool is_packed) const {
  OperandBytes bytes{product(region, a_axes_), product(region, b_axes_), product(region, c_axes_)};
  for (int i = 0; i < borders_.size(); ++i) {
    const Border& border = borders_[i];
    const double outs = region[border.out];
    const double taps = region[border.tap];
    const auto stride = static_cast<double>(border.stride);
    const double reach =
        (outs - 1.0) * stride + (taps - 1.0) * static_cast<double>(border.dilation) + 1.0;
    const double dragged = i == 1 && !is_packed ? std::min(stride, 2.0) : 1.0;
    const auto pixels = static_cast<double>(std::max<std::int64_t>(1, border.extent));
    bytes.a *= std::min({reach, outs * taps * dragged, pixels});
  }
  if (a_line_axis_ >= 0 && !is_packed) bytes.a *= whole_lines(region);
  return bytes;
}

Reuse::Reuse(const Contraction& contraction, const Footprints& footprints, const Step& step,
             const Region& shares, Isa isa)
    : contraction_(contraction), footprints_(footprints), streams_c_(step.marks.stream) {
  Region region = whole_region(contraction);
  for (std::size_t i = 0; i < region.size.size(); ++i) {
    region.size[i] = std::max(1.0, region.size[i] * shares.size[i]);
  }
  whole_ = inside_ = footprints_.of(region, false);
  Region pending = shares;
  for (int i = 0; i < step.elements.size(); ++i) {
    const Loop* loop = loop_at(step, i);
    if (loop == nullptr) {
      const bool weights = step.elements[i].pack.operand[0] == 'w';
      packed_bytes_ += rounds_ * (weights ? inside_.b : inside_.a);
      is_packed_ = !weights;
      continue;
    }
    if (loop->parallel) pending[loop->axis] = 1.0;
    add_level(region, *loop, std::max(1.0, loop->step * pending[loop->axis]));
  }
  call_ = inside_;
  add_kernel_levels(region, step, isa);
}

void Reuse::add_level(Region& region, const Loop& loop, double step) {
  const double size = around(region, loop);
  if (size <= step) return;
  Level level{.rounds = size / step, .inside = {}, .grows = {}};
  shrink(region, loop, step);
  const OperandBytes outside = inside_;
  inside_ = footprints_.of(region, is_packed_);
  level.inside = inside_.all();
  level.grows = {outside.a / inside_.a, outside.b / inside_.b, outside.c / inside_.c};
  levels_.push_back(level);
  rounds_ *= level.rounds;
}

void Reuse::add_kernel_levels(Region& region, const Step& step, Isa isa) {
  const Axis line = contraction_.line;
  const double lines = line == Axis::none ? 1.0 : region[line];
  BrgemmSpec spec;
  spec.isa = isa;
  spec.m = static_cast<int>(std::max(1.0, lines * region[contraction_.row]));
  spec.n = static_cast<int>(region[contraction_.columns]);
  spec.tile_rows = step.marks.tile_rows;
  spec.tile_cols = step.marks.tile_cols;
  tile_ = register_tile(spec);
  add_level(region, {.axis = contraction_.columns}, tile_.cols);
  if (line != Axis::none) add_level(region, {.axis = line}, 1.0);
  add_level(region, {.axis = contraction_.row}, tile_.rows);
  const Sum& sum = step.sums[0];
  for (const Axis axis : sum.batch) {
    add_level(region, {.axis = axis}, axis == sum.axis ? sum.depth : 1.0);
  }
}

OperandBytes Reuse::moved(double usable) const {
  OperandBytes bytes = inside_;
  for (int i = levels_.size(); i-- > 0;) {
    const Level& level = levels_[i];
    const double miss = miss_share(level.inside, usable);
    const double again = miss * level.rounds;
    bytes.a *= (1.0 - miss) * level.grows.a + again;
    bytes.b *= (1.0 - miss) * level.grows.b + again;
    bytes.c *= (1.0 - miss) * level.grows.c + again;
  }
  bytes.c *= streams_c_ ? 0.0 : 2.0;
  return bytes;
}

}  // namespace loopbrick
