#include "loops/nest.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "kernels/text.h"
#include "loops/own_numbers.h"
#include "loops/ranges.h"
#include "loops/step_facts.h"

namespace loopbrick {

namespace {

constexpr std::int64_t kCacheLine = 64;

std::int64_t round_up(std::int64_t value, std::int64_t to) { return (value + to - 1) / to * to; }

}  // namespace

Nest::Nest(const Contraction& contraction, const Step& step, const PostOps& post,
           const Conditions& conditions, KernelCache& kernels)
    : contraction_(contraction),
      step_(step),
      threads_(conditions.threads),
      dynamic_(step.marks.deal == Deal::dynamic),
      flattened_(flattens(step)) {
  if (packs_weights(step)) {
    panel_ = TransposedWeights::of(contraction, step);
  } else if (packs_input(step)) {
    pack_ = std::make_unique<PackCopy>(contraction, step);
  }
  const Access a = pack_ == nullptr ? contraction.a : pack_->access();
  const Access b = panel_ ? panel_->access() : contraction.b;
  tables_.reserve(std::max<std::size_t>(1, contraction.phases.size()));
  for (std::size_t phase = 0; phase < tables_.capacity(); ++phase) {
    tables_.emplace_back(contraction.in_phase(phase), step, a, b, post, conditions, kernels);
  }
  for (const Phase& phase : contraction.phases) {
    b_origins_.push_back(TransposedWeights::of(contraction, step).origin(phase));
  }
  add_levels();
  for (const Axis axis : contraction.sums) {
    if (!steps_over(step, axis).empty()) looped_sums_.push_back(place(axis));
  }
  find_workspace();
}

void Nest::find_workspace() {
  const std::int64_t packed = panel_             ? panel_->to.elements()
                              : pack_ != nullptr ? pack_->elements()
                                                 : 0;
  packed_bytes_ = round_up(packed * std::int64_t{sizeof(float)}, kCacheLine);
  std::int64_t longest = 0;
  for (const CallTable& table : tables_) longest = std::max(longest, table.longest_batch());
  const bool by_address = step_.marks.batch == BatchForm::address;
  const std::int64_t addresses = by_address ? longest * std::int64_t{sizeof(BatchAddress)} : 0;
  bytes_a_thread_ = packed_bytes_ + round_up(addresses, kCacheLine);
  for (const Level& level : levels_) {
    if (level.is_private) results_ = level.ways - 1;
  }
  elements_of_c_ = 1;
  for (const Axis axis : contraction_.outputs) {
    elements_of_c_ += contraction_.c[place(axis)].offset(contraction_.extent(axis) - 1);
  }
  result_elements_ = round_up(elements_of_c_, kCacheLine / std::int64_t{sizeof(float)});
}

std::int64_t Nest::workspace_bytes() const {
  const std::int64_t results =
      saturating_product(results_ * std::int64_t{sizeof(float)}, result_elements_);
  return saturating_sum(threads_ * bytes_a_thread_, results);
}

void Nest::add_levels() {
  for (int i = 0; i < step_.elements.size(); ++i) levels_.push_back(level(step_.elements[i], i));
  for (std::size_t i = levels_.size(); i-- > 0;) {  // the first loop of a grid knows its length
    if (levels_[i].kind != Level::Kind::grid) continue;
    const bool more = i + 1 < levels_.size() && levels_[i + 1].kind == Level::Kind::grid;
    levels_[i].grid = 1 + (more ? levels_[i + 1].grid : 0);
    if (levels_[i].is_private && levels_[i].ways == 0) levels_[i].ways = threads_;  // it is alone
  }
}

Nest::Level Nest::level(const Element& element, int at) const {
  Level level;
  if (element.is_pack()) {
    level.kind = Level::Kind::pack;
    return level;
  }
  const Loop& loop = element.loop;
  const bool flattened = loop.fused != Axis::none;
  level.kind = loop.parallel ? Level::Kind::grid : Level::Kind::serial;
  if (loop.axis == Axis::f) level.kind = Level::Kind::phases;
  level.is_private = loop.private_sum;
  for (int i = 0; i < contraction_.clips.size(); ++i) {
    if (contraction_.clips[i].tap == loop.axis) level.clip = i;
  }
  level.axis = flattened ? static_cast<std::size_t>(kFlattened) : place(loop.axis);
  level.step = loop.step;
  level.ways = loop.ways;
  std::int64_t around = contraction_.extents[level.axis];
  bool outermost = true;
  bool outermost_serial = !loop.parallel;
  for (int i = 0; i < at; ++i) {
    const Element& before = step_.elements[i];
    if (before.is_pack() || before.loop.axis != loop.axis || before.loop.fused != loop.fused)
      continue;
    around = before.loop.step;
    outermost = false;
    outermost_serial = outermost_serial && before.loop.parallel;
  }
  level.opens_flattened = flattened && outermost;
  level.rotated = loop.axis == step_.marks.rotate && outermost_serial;
  const int packed_at = pack_at(step_);
  const bool is_inside = packed_at >= 0 && at > packed_at;
  const Access a = is_inside && pack_ != nullptr ? pack_->access() : contraction_.a;
  const Access b = is_inside && panel_ ? panel_->access() : contraction_.b;
  level.a = move(a[level.axis], level.step, around);
  level.b = move(b[level.axis], level.step, around);
  level.c = move(contraction_.c[level.axis], level.step, around);
  return level;
}

/// Between two starts of rounds that lie `step` apart within `around`, as one multiplication
/// wherever that is exact.
Move Nest::move(const AxisAccess& access, std::int64_t step, std::int64_t around) const {
  if (access.block == 0) return {.unit = access.inner};
  if (step % access.block == 0) return {.unit = access.outer / access.block};
  if (access.block % around == 0) return {.unit = access.inner};
  assert(std::has_single_bit(static_cast<std::uint64_t>(access.block)));
  return {.shift = std::countr_zero(static_cast<std::uint64_t>(access.block)),
          .inner = access.inner,
          .outer = access.outer};
}

void Nest::run(const Operands& operands, std::byte* workspace) const noexcept {
  std::atomic<std::int64_t> next_cell{0};
  auto* const results = reinterpret_cast<float*>(workspace + threads_ * bytes_a_thread_);
#pragma omp parallel num_threads(threads_)
  {
    const OwnNumbers numbers(threads_);
    numbers.each([&](int number) {
      Thread thread{.operands = operands, .next_cell = &next_cell};
      std::byte* own = workspace + number * bytes_a_thread_;
      thread.packed = reinterpret_cast<float*>(own);
      thread.addresses = reinterpret_cast<BatchAddress*>(own + packed_bytes_);
      thread.results = results;
      walk_all(number, thread);
    });
    if (results_ > 0) {
#pragma omp barrier
      numbers.each([&](int number) { add_results(number, operands.c, results); });
    }
  }
}

void Nest::walk_all(int number, Thread& thread) const noexcept {
  thread.number = number;
  for (std::size_t axis = 0; axis < thread.ranges.size(); ++axis) {
    thread.ranges[axis] = {0, std::max<std::int64_t>(contraction_.extents[axis], 0)};
  }
  thread.own = thread.summed = thread.ranges;
  Offsets offsets{.a = contraction_.a_origin};
  for (int i = 0; i < contraction_.clips.size(); ++i) {
    if (place_of_loop(step_, contraction_.clips[i].tap) < 0) offsets = clip(i, 0, thread, offsets);
  }
  walk(0, thread, offsets);
}

/// This thread's part of C becomes the sum of all results.
void Nest::add_results(int number, float* c, const float* results) const noexcept {
  constexpr std::int64_t kPart = 16 * kCacheLine;
  const std::int64_t parts = (result_elements_ + kPart - 1) / kPart;
  const std::int64_t end = std::min(parts * (number + 1) / threads_ * kPart, elements_of_c_);
  for (std::int64_t first = parts * number / threads_ * kPart; first < end; first += kPart) {
    const std::int64_t count = std::min(kPart, end - first);
    for (std::int64_t result = 0; result < results_; ++result) {
      const float* from = results + result * result_elements_ + first;
      for (std::int64_t i = 0; i < count; ++i) c[first + i] += from[i];
    }
  }
}

void Nest::walk(std::size_t at, Thread& thread, const Offsets& offsets) const noexcept {
  if (at == levels_.size()) return call(thread, offsets);
  switch (levels_[at].kind) {
    case Level::Kind::serial:
      return walk_rounds(at, thread, offsets);
    case Level::Kind::grid:
      return walk_grid(at, thread, offsets);
    case Level::Kind::pack:
      return pack(at, thread, offsets);
    case Level::Kind::phases:
      return walk_phases(at, thread, offsets);
  }
}

/// The round of a loop over `whole` that begins at `begin`.
Nest::Offsets Nest::enter(const Level& level, const Range& whole, std::int64_t begin,
                          Thread& thread, const Offsets& offsets) const noexcept {
  thread.ranges[level.axis] = {begin, std::min(begin + level.step, whole.end)};
  const Offsets moved{offsets.a + level.a.between(whole.begin, begin),
                      offsets.b + level.b.between(whole.begin, begin),
                      offsets.c + level.c.between(whole.begin, begin)};
  return level.clip < 0 ? moved : clip(level.clip, begin, thread, moved);
}

void Nest::leave(const Level& level, const Range& whole, Thread& thread) const noexcept {
  thread.ranges[level.axis] = whole;
  if (level.clip < 0) return;
  const std::size_t pixels = place(contraction_.clips[level.clip].out);
  thread.ranges[pixels] = thread.unclipped[static_cast<std::size_t>(level.clip)];
}

/// Leaves those pixels of a round that the tap meets on the image.
Nest::Offsets Nest::clip(int clip, std::int64_t tap, Thread& thread,
                         const Offsets& offsets) const noexcept {
  const Border& border = contraction_.clips[clip];
  const std::size_t pixels = place(border.out);
  const Range whole = thread.ranges[pixels];
  thread.unclipped[static_cast<std::size_t>(clip)] = whole;
  thread.summed[pixels] = on_image(border, thread.own[pixels], tap);
  Range& left = thread.ranges[pixels];
  left = on_image(border, whole, tap);
  if (left.size() == 0) left = {whole.begin, whole.begin};
  const std::int64_t skipped = left.begin - whole.begin;
  return {offsets.a + skipped * contraction_.a[pixels].inner,
          offsets.b + skipped * contraction_.b[pixels].inner, offsets.c};
}

/// The range that a loop divides; a flattened one takes over what the loops over p have left.
Range Nest::open(const Level& level, Thread& thread) const noexcept {
  Range& range = thread.ranges[level.axis];
  if (level.opens_flattened) {
    const Range& lines = thread.ranges[place(contraction_.line)];
    const std::int64_t row = contraction_.extent(contraction_.row);
    range = {lines.begin * row, lines.end * row};
  }
  return range;
}

/// At least one for pixels that a tap has none of: a gradient of 0 is written, too.
std::int64_t Nest::rounds(const Level& level, const Thread& thread) const noexcept {
  const std::int64_t count = (thread.ranges[level.axis].size() + level.step - 1) / level.step;
  return contraction_.clips.empty() ? count : std::max<std::int64_t>(count, 1);
}

void Nest::walk_rounds(std::size_t at, Thread& thread, const Offsets& offsets) const noexcept {
  const Level& level = levels_[at];
  const Range whole = open(level, thread);
  const std::int64_t count = rounds(level, thread);
  const std::int64_t first = level.rotated ? count * thread.number / threads_ : 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t round = first + i < count ? first + i : first + i - count;
    const std::int64_t begin = whole.begin + round * level.step;
    walk(at + 1, thread, enter(level, whole, begin, thread, offsets));
    leave(level, whole, thread);
  }
  thread.ranges[level.axis] = whole;
}

void Nest::walk_phases(std::size_t at, Thread& thread, const Offsets& offsets) const noexcept {
  const Ranges ranges = thread.ranges;
  const Ranges summed = thread.summed;
  for (std::size_t i = 0; i < contraction_.phases.size(); ++i) {
    const Phase& phase = contraction_.phases[i];
    thread.phase = i;
    thread.ranges[place(contraction_.line)] = {0, phase.lines};
    thread.ranges[place(contraction_.row)] = {0, phase.rows};
    for (const auto& [axis, taps] :
         {std::pair{Axis::r, phase.taps_down}, {Axis::s, phase.taps_across}}) {
      thread.ranges[place(axis)] = thread.summed[place(axis)] = {0, taps};
    }
    walk(at + 1, thread,
         {offsets.a + phase.a_origin, offsets.b + b_origins_[i], offsets.c + phase.c_origin});
  }
  thread.ranges = ranges;
  thread.summed = summed;
}

void Nest::walk_grid(std::size_t at, Thread& thread, const Offsets& offsets) const noexcept {
  const int loops = levels_[at].grid;
  if (levels_[at].ways != 0) return walk_ways(at, loops, thread.number, thread, offsets);
  std::int64_t cells = 1;
  for (int i = 0; i < loops; ++i) {
    const Level& level = levels_[at + static_cast<std::size_t>(i)];
    open(level, thread);
    cells *= rounds(level, thread);
  }
  if (dynamic_) {
    for (std::int64_t cell;
         (cell = thread.next_cell->fetch_add(1, std::memory_order_relaxed)) < cells;) {
      walk_cell(at, cell, thread, offsets);
    }
    return;
  }
  const std::int64_t end = cells * (thread.number + 1) / threads_;
  for (std::int64_t cell = cells * thread.number / threads_; cell < end; ++cell) {
    walk_cell(at, cell, thread, offsets);
  }
}

/// One loop of a grid with a thread count of its own along each loop: this thread's run of rounds,
/// then the next loop.
void Nest::walk_ways(std::size_t at, int left, int number, Thread& thread,
                     const Offsets& offsets) const noexcept {
  if (left == 0) return walk(at, thread, offsets);
  const Level& level = levels_[at];
  std::int64_t inner_ways = 1;
  for (int i = 1; i < left; ++i) inner_ways *= levels_[at + static_cast<std::size_t>(i)].ways;
  const std::int64_t way = number / inner_ways;
  const Range whole = open(level, thread);
  const std::int64_t count = rounds(level, thread);
  const std::int64_t end = count * (way + 1) / level.ways;
  const std::int64_t start = count * way / level.ways;
  const Operands shared = thread.operands;
  if (level.is_private) {
    thread.own[level.axis] = {whole.begin + start * level.step,
                              std::min(whole.begin + end * level.step, whole.end)};
    thread.summed[level.axis] = thread.own[level.axis];
    if (way > 0) thread.operands.c = thread.results + (way - 1) * result_elements_;
  }
  for (std::int64_t round = start; round < end; ++round) {
    const std::int64_t begin = whole.begin + round * level.step;
    walk_ways(at + 1, left - 1, static_cast<int>(number % inner_ways), thread,
              enter(level, whole, begin, thread, offsets));
    leave(level, whole, thread);
  }
  thread.ranges[level.axis] = whole;
  thread.operands = shared;
}

/// One cell of the grid that starts at level `at`: the last loop is the fastest.
void Nest::walk_cell(std::size_t at, std::int64_t cell, Thread& thread,
                     const Offsets& offsets) const noexcept {
  const auto loops = static_cast<std::size_t>(levels_[at].grid);
  Range saved[kAxisCount];
  Offsets here = offsets;
  for (std::size_t i = loops; i-- > 0;) {
    const Level& level = levels_[at + i];
    const Range whole = thread.ranges[level.axis];
    const std::int64_t count = rounds(level, thread);
    const std::int64_t begin = whole.begin + cell % count * level.step;
    cell /= count;
    saved[i] = whole;
    here = enter(level, whole, begin, thread, here);
  }
  walk(at + loops, thread, here);
  for (std::size_t i = 0; i < loops; ++i) leave(levels_[at + i], saved[i], thread);
}

void Nest::pack(std::size_t at, Thread& thread, const Offsets& offsets) const noexcept {
  if (panel_) return pack_weights(at, thread, offsets);
  pack_->copy(thread.operands.a, thread.ranges, thread.packed);
  const float* plain = thread.operands.a;
  thread.operands.a = thread.packed;
  walk(at + 1, thread, {.a = 0, .b = offsets.b, .c = offsets.c});
  thread.operands.a = plain;
}

void Nest::pack_weights(std::size_t at, Thread& thread, const Offsets& offsets) const noexcept {
  const Range& ks = thread.ranges[place(contraction_.depth)];
  const Range& cs = thread.ranges[place(contraction_.columns)];
  panel_->run(thread.operands.b, ks, cs, thread.packed);
  const float* plain = thread.operands.b;
  thread.operands.b = thread.packed;
  walk(at + 1, thread, {.a = offsets.a, .b = 0, .c = offsets.c});
  thread.operands.b = plain;
}

/// A tap that meets some pixels, but none of this round's.
bool Nest::misses_image(const Thread& thread) const noexcept {
  for (const Border& border : contraction_.clips) {
    const std::size_t pixels = place(border.out);
    if (thread.ranges[pixels].size() == 0 && thread.summed[pixels].size() > 0) return true;
  }
  return false;
}

void Nest::call(Thread& thread, const Offsets& offsets) const noexcept {
  if (misses_image(thread)) return;
  const auto range = [&](Axis axis) { return thread.ranges[place(axis)]; };
  CallSite site;
  site.columns = range(contraction_.columns).size();
  site.depth = range(contraction_.depth).size();
  if (flattened_) {
    site.lines = 1;
    site.rows = thread.ranges[static_cast<std::size_t>(kFlattened)].size();
  } else {
    const Range rows = range(contraction_.row);
    site.rows = rows.size();
    site.first_row = rows.begin;
    const Range lines = contraction_.line == Axis::none ? Range{0, 1} : range(contraction_.line);
    site.lines = lines.size();
    site.first_line = lines.begin;
  }
  if (contraction_.is_sum(Axis::r)) {
    site.first_tap_down = range(Axis::r).begin;
    site.first_tap_across = range(Axis::s).begin;
  }
  const Few<Axis, 2> outer = outer_axes(contraction_);
  for (int i = 0; i < outer.size(); ++i) {
    site.outer[static_cast<std::size_t>(i)] = range(outer[i]).size();
  }
  site.first = true;
  site.last = true;
  for (const std::size_t axis : looped_sums_) {
    const Range& summed = thread.summed[axis];
    if (summed.size() == 0) continue;  // nothing is added, whatever the round
    site.first = site.first && thread.ranges[axis].begin == summed.begin;
    site.last = site.last && thread.ranges[axis].end == summed.end;
  }
  const std::int64_t column = range(contraction_.columns).begin;
  const Operands& base = thread.operands;
  tables_[thread.phase].call(site,
                             {base.a + offsets.a, base.b + offsets.b, base.c + offsets.c,
                              base.bias == nullptr ? nullptr : base.bias + column},
                             thread.addresses);
}

}  // namespace loopbrick
