#include "loops/call_table.h"

#include <algorithm>
#include <cassert>

#include "kernels/fault.h"
#include "loops/step_facts.h"

namespace loopbrick {

namespace {

constexpr int kMostWindows =
    8;  // groups in one kernel; a tile that the rim cuts into more takes several kernel calls

std::size_t find(const std::vector<std::int64_t>& sizes, std::int64_t size) {
  std::size_t i = 0;
  while (i + 1 < sizes.size() && sizes[i] != size) ++i;
  assert(sizes[i] == size);
  return i;
}

void add_sizes(std::vector<std::int64_t>& to, const std::vector<std::int64_t>& sizes) {
  for (const std::int64_t size : sizes) {
    if (std::find(to.begin(), to.end(), size) == to.end()) to.push_back(size);
  }
}

/// Pixels that a call sums under some tap: the loops left of that over the taps, what the image
/// leaves of their rounds, and the loops right of it.
std::vector<std::int64_t> clipped_sizes(const Contraction& contraction, const Step& step,
                                        const Border& clip) {
  const int at = place_of_loop(step, clip.tap);
  std::vector<std::int64_t> sizes;
  for (std::int64_t tap = 0; tap < contraction.extent(clip.tap); ++tap) {
    for (const Range& round :
         tiles(contraction.extent(clip.out), steps_before(step, clip.out, at))) {
      const std::int64_t left = on_image(clip, round, tap).size();
      if (left == 0) add_sizes(sizes, {0});
      add_sizes(sizes, tile_sizes({left}, steps_behind(step, clip.out, at)));
    }
  }
  return sizes;
}

std::vector<std::int64_t> sizes_of(const Contraction& contraction, const Step& step, Axis axis) {
  if (axis == Axis::none || !contraction.has(axis)) return {1};
  if (contraction.extent(axis) == 0) return {0};
  for (const Border& clip : contraction.clips) {
    if (clip.out == axis) return clipped_sizes(contraction, step, clip);
  }
  return tile_sizes({contraction.extent(axis)}, steps_over(step, axis));
}

std::vector<std::int64_t> row_sizes(const Contraction& contraction, const Step& step) {
  if (!flattens(step)) return sizes_of(contraction, step, contraction.row);
  std::vector<std::int64_t> sizes = sizes_of(contraction, step, contraction.line);
  for (std::int64_t& size : sizes) size *= contraction.extent(contraction.row);
  return tile_sizes(sizes, steps_over_flattened(step));
}

std::int64_t taps(const Contraction& contraction, Axis axis) {
  return contraction.is_sum(axis) ? contraction.extent(axis) : 1;
}

Steps steps_over_taps(const Contraction& contraction, const Step& step, Axis axis) {
  return contraction.is_sum(axis) ? steps_over(step, axis) : Steps{};
}

/// Axes in the order that the batch walks them: as written, then those that a call meets one of.
std::vector<Axis> batch_order(const Contraction& contraction, const Sum& sum) {
  std::vector<Axis> order(sum.batch.begin(), sum.batch.end());
  for (const Axis axis : contraction.sums) {
    if (std::find(order.begin(), order.end(), axis) == order.end()) order.push_back(axis);
  }
  return order;
}

bool sums_are_looped(const Contraction& contraction, const Step& step) {
  for (const Axis axis : contraction.sums) {
    const Steps steps = steps_over(step, axis);
    if (!steps.empty() && steps.back() < contraction.extent(axis)) return true;
  }
  return false;
}

/// What the batch walks along each axis, as indices from where the call starts.
struct Walked {
  std::vector<Axis> order;
  std::array<std::vector<std::int64_t>, kAxisCount> indices;

  std::vector<std::int64_t>& along(Axis axis) { return indices[place(axis)]; }
};

/// The axis of B that belongs to this one of A: the same, but for Fault::swapped_taps.
std::size_t axis_of_b(std::size_t axis) {
  if (kFault != Fault::swapped_taps) return axis;
  return axis == place(Axis::r) ? place(Axis::s) : axis == place(Axis::s) ? place(Axis::r) : axis;
}

void append_entries(const Walked& walked, std::size_t level, const Access& a, const Access& b,
                    BatchOffset at, std::vector<BatchOffset>& to) {
  if (level == walked.order.size()) {
    to.push_back(at);
    return;
  }
  const std::size_t axis = place(walked.order[level]);
  for (const std::int64_t i : walked.indices[axis]) {
    append_entries(walked, level + 1, a, b,
                   {at.a + a[axis].offset(i), at.b + b[axis_of_b(axis)].offset(i)}, to);
  }
}

CallBatch batch_of(const std::vector<TapGroup>& groups, bool sums_taps, Walked& walked,
                   const Access& a, const Access& b) {
  CallBatch batch;
  for (const TapGroup& group : groups) {
    const auto before = static_cast<std::int64_t>(batch.entries.size());
    if (sums_taps) walked.along(Axis::s) = group.taps;
    append_entries(walked, 0, a, b, {}, batch.entries);
    batch.counts.push_back(static_cast<std::int64_t>(batch.entries.size()) - before);
  }
  if (batch.counts.empty()) batch.counts.push_back(0);
  return batch;
}

/// How far behind a row of A the one lies that the next round of the innermost loop over `next`
/// reads in its place.
std::int64_t next_input(const Step& step, const Access& a) {
  if (step.marks.next == Axis::none) return 0;
  const bool pairs = flattens(step) && steps_over(step, step.marks.next).empty();
  const Steps steps = pairs ? steps_over_flattened(step) : steps_over(step, step.marks.next);
  return a[pairs ? static_cast<std::size_t>(kFlattened) : place(step.marks.next)].offset(
      steps.back());
}

std::vector<std::int64_t> indices(const Range& range, std::int64_t step) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = range.begin; i < range.end; i += step) all.push_back(i);
  return all;
}

}  // namespace

Few<Axis, 2> outer_axes(const Contraction& contraction) {
  Few<Axis, 2> axes;
  for (const Axis axis : contraction.sums) {
    if (axis != contraction.depth && axis != Axis::r && axis != Axis::s) axes.push_back(axis);
  }
  return axes;
}

CallTable::CallTable(const Contraction& contraction, const Step& step, const Access& a,
                     const Access& b, const PostOps& post, const Conditions& conditions,
                     KernelCache& kernels)
    : has_post_(post.any()),
      by_address_(step.marks.batch == BatchForm::address),
      by_stride_(step.marks.batch == BatchForm::stride) {
  find_sizes(contraction, step);
  for (const RowPattern& pattern : rim_->patterns()) {
    for (const std::int64_t depth : depths_) {
      pieces_.push_back(pieces(contraction, step, pattern, depth));
    }
  }
  make_batches(contraction, step, a, b);
  make_kernels(contraction, step, a, b, post, conditions, kernels);
}

void CallTable::find_sizes(const Contraction& contraction, const Step& step) {
  columns_ = sizes_of(contraction, step, contraction.columns);
  lines_ =
      flattens(step) ? std::vector<std::int64_t>{1} : sizes_of(contraction, step, contraction.line);
  depths_ = sizes_of(contraction, step, contraction.depth);
  const Few<Axis, 2> outer = outer_axes(contraction);
  for (int i = 0; i < 2; ++i) {
    outers_[static_cast<std::size_t>(i)] =
        sizes_of(contraction, step, i < outer.size() ? outer[i] : Axis::none);
  }
  const bool windows = has_windows(contraction, step);
  rim_ = std::make_unique<RimTable>(
      RimTable::Tiling{
          .rows = contraction.extent(contraction.row),
          .lines = contraction.line == Axis::none ? 1 : contraction.extent(contraction.line),
          .taps_across = taps(contraction, Axis::s),
          .taps_down = taps(contraction, Axis::r),
          .row_steps = steps_over(step, contraction.row),
          .line_steps =
              contraction.line == Axis::none ? Steps{} : steps_over(step, contraction.line),
          .s_steps = steps_over_taps(contraction, step, Axis::s),
          .r_steps = steps_over_taps(contraction, step, Axis::r)},
      windows ? &contraction.borders[0] : nullptr, windows ? &contraction.borders[1] : nullptr,
      row_sizes(contraction, step));
}

std::vector<CallTable::Piece> CallTable::pieces(const Contraction& contraction, const Step& step,
                                                const RowPattern& pattern,
                                                std::int64_t depth) const {
  const std::int64_t entry = entry_depth(contraction, step);
  const std::int64_t full = entry == 0 ? 0 : depth / entry * entry;
  std::vector<Piece> list;
  std::size_t group = 0;
  do {
    const std::size_t end = std::min(group + kMostWindows, pattern.groups.size());
    const std::vector<TapGroup> groups(pattern.groups.begin() + static_cast<std::ptrdiff_t>(group),
                                       pattern.groups.begin() + static_cast<std::ptrdiff_t>(end));
    if (full > 0 || depth == 0)
      list.push_back({.rows = pattern.rows, .groups = groups, .depths = {0, full}, .entry = entry});
    if (full < depth) {
      list.push_back(
          {.rows = pattern.rows, .groups = groups, .depths = {full, depth}, .entry = depth - full});
    }
    group = end;
  } while (group < pattern.groups.size());
  return list;
}

void CallTable::make_batches(const Contraction& contraction, const Step& step, const Access& a,
                             const Access& b) {
  Walked walked{.order = batch_order(contraction, step.sums[0]), .indices = {}};
  const Few<Axis, 2> outer = outer_axes(contraction);
  const bool sums_taps = contraction.is_sum(Axis::s);
  for (std::vector<Piece>& pieces : pieces_) {
    for (Piece& piece : pieces) {
      piece.batches = batches_.size();
      walked.along(contraction.depth) =
          piece.entry == 0 ? std::vector<std::int64_t>{0} : indices(piece.depths, piece.entry);
      for (const Range& tap_rows : rim_->tap_rows()) {
        if (sums_taps) walked.along(Axis::r) = indices(tap_rows, 1);
        for (const std::int64_t first : outers_[0]) {
          if (outer.size() > 0) walked.along(outer[0]) = indices({0, first}, 1);
          for (const std::int64_t second : outers_[1]) {
            if (outer.size() > 1) walked.along(outer[1]) = indices({0, second}, 1);
            batches_.push_back(batch_of(piece.groups, sums_taps, walked, a, b));
          }
        }
      }
    }
  }
  for (const CallBatch& each : batches_) {
    longest_batch_ = std::max(longest_batch_, static_cast<std::int64_t>(each.entries.size()));
  }
}

/// Whether any call needs this one of a piece's four kernels: overwriting C (`first`) or adding to
/// it, finishing it with the post-ops (`last`) or not.
bool CallTable::is_met(std::size_t piece, std::size_t pieces, bool first, bool last,
                       bool looped) const {
  const bool begins = piece == 0;
  const bool ends = piece + 1 == pieces;
  if (!(first ? begins : !begins || looped)) return false;
  if (!has_post_) return !last;
  return last ? ends : !ends || looped;
}

void CallTable::make_kernels(const Contraction& contraction, const Step& step, const Access& a,
                             const Access& b, const PostOps& post, const Conditions& conditions,
                             KernelCache& kernels) {
  BrgemmSpec spec{.isa = conditions.isa};
  const std::size_t row =
      flattens(step) ? static_cast<std::size_t>(kFlattened) : place(contraction.row);
  spec.a_row_stride = a[row].inner;
  spec.ldc = contraction.c[row].inner;
  spec.a_k_stride = a[place(contraction.depth)].inner;
  spec.ldb = b[place(contraction.depth)].inner;
  spec.form = step.marks.batch;
  spec.tile_rows = step.marks.tile_rows;
  spec.tile_cols = step.marks.tile_cols;
  spec.stream = step.marks.stream;
  spec.ahead = step.marks.ahead;
  spec.fetch_a = next_input(step, a);
  const bool looped = post.adds || sums_are_looped(contraction, step);
  for (std::vector<Piece>& pieces : pieces_) {
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      Piece& piece = pieces[i];
      piece.kernels = kernels_.size();
      spec.k = static_cast<int>(piece.entry);
      spec.windows.clear();
      const bool whole = piece.groups.empty() ||
                         (piece.groups.size() == 1 &&
                          piece.groups[0].window == RowWindow{0, static_cast<int>(piece.rows)});
      if (!whole) {
        for (const TapGroup& group : piece.groups) spec.windows.push_back(group.window);
      }
      if (spec.form == BatchForm::stride) set_batch_strides(piece, spec);
      for (const std::int64_t lines : lines_) {
        spec.m = static_cast<int>(lines * piece.rows);
        spec.line = lines > 1 ? static_cast<int>(piece.rows) : 0;
        spec.a_line_stride = lines > 1 ? a[place(contraction.line)].inner : 0;
        spec.c_line_stride = lines > 1 ? contraction.c[place(contraction.line)].inner : 0;
        for (const std::int64_t columns : columns_) {
          spec.n = static_cast<int>(columns);
          for (const bool first : {false, true}) {
            for (const bool last : {false, true}) {
              const bool met = is_met(i, pieces.size(), first, last, looped);
              const bool finishes = last && has_post_;
              spec.accumulate = !first;
              spec.bias = finishes && post.bias;
              spec.activation = finishes ? post.activation : Activation::none;
              kernels_.push_back(met ? kernels.get(spec) : nullptr);
            }
          }
        }
      }
    }
  }
}

void CallTable::set_batch_strides(const Piece& piece, BrgemmSpec& spec) const {
  const std::size_t lists = rim_->tap_rows().size() * outers_[0].size() * outers_[1].size();
  for (std::size_t i = 0; i < lists; ++i) {
    const std::vector<BatchOffset>& entries = batches_[piece.batches + i].entries;
    if (entries.size() < 2) continue;
    spec.a_batch_stride = entries[1].a - entries[0].a;
    spec.b_batch_stride = entries[1].b - entries[0].b;
    return;
  }
}

void CallTable::call(const CallSite& site, const Operands& operands,
                     BatchAddress* scratch) const noexcept {
  const auto pattern =
      static_cast<std::size_t>(rim_->pattern(site.first_row, site.rows, site.first_tap_across));
  const auto tap_rows =
      static_cast<std::size_t>(rim_->tap_rows_of(site.first_line, site.first_tap_down));
  const std::size_t batch =
      (tap_rows * outers_[0].size() + find(outers_[0], site.outer[0])) * outers_[1].size() +
      find(outers_[1], site.outer[1]);
  const std::size_t sizes =
      find(lines_, site.lines) * columns_.size() + find(columns_, site.columns);
  const std::vector<Piece>& pieces = pieces_[pattern * depths_.size() + find(depths_, site.depth)];
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const bool first = site.first && i == 0;
    const bool last = has_post_ && site.last && i + 1 == pieces.size();
    const BrgemmKernel& kernel =
        *kernels_[pieces[i].kernels + sizes * 4 + (first ? 2 : 0) + (last ? 1 : 0)];
    call_kernel(kernel, batches_[pieces[i].batches + batch], operands, scratch);
  }
}

void CallTable::call_kernel(const BrgemmKernel& kernel, const CallBatch& batch,
                            const Operands& operands, BatchAddress* scratch) const noexcept {
  BrgemmCall call{.a = operands.a,
                  .b = operands.b,
                  .c = operands.c,
                  .list = batch.entries.data(),
                  .counts = batch.counts.data(),
                  .bias = operands.bias};
  if (by_address_) {
    for (std::size_t i = 0; i < batch.entries.size(); ++i) {
      scratch[i] = {operands.a + batch.entries[i].a, operands.b + batch.entries[i].b};
    }
    call.list = scratch;
  } else if (by_stride_ && !batch.entries.empty()) {
    call.a = operands.a + batch.entries[0].a;
    call.b = operands.b + batch.entries[0].b;
  }
  kernel(call);
}

}  // namespace loopbrick
