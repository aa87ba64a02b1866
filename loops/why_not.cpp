#include <algorithm>
#include <array>

#include "kernels/text.h"
#include "loops/lstm_steps.h"
#include "loops/pack_copy.h"
#include "loops/plan.h"
#include "loops/ranges.h"
#include "loops/step_facts.h"

namespace loopbrick {

namespace {

using Answer = std::optional<Refusal>;

constexpr std::int64_t kMostLooked = 1 << 20;  // rows and lines that the rim is looked up by
constexpr std::int64_t kMostInt = INT32_MAX;   // sizes of one kernel call

char letter(Axis axis) { return static_cast<char>(axis); }

Answer refuse(const char* sentence, Axis axis = Axis::none, std::int64_t got = 0,
              std::int64_t limit = 0) {
  return Refusal{sentence, got, limit, axis == Axis::none ? '?' : letter(axis)};
}

/// Everything that the checks look at.
struct Case {
  const Contraction& contraction;
  const Step& step;
  const Conditions& conditions;
};

Answer check_form(const Contraction& to, const Schedule& schedule, const Conditions& conditions) {
  const Step& step = main_step(schedule);
  if (transposes_once(schedule)) {
    if (!to.b_is_transposed)
      return refuse("this problem transposes no weights: 'once: pack(w') ;' is for passes by data");
    if (packs_weights(step)) return refuse("the weights are transposed once already");
    if (!conditions.transposes_once)
      return refuse("'once:' leaves work out of the time: it needs conditions of its own, --once");
  } else if (schedule.steps.size() != 1) {
    return refuse("this problem runs as one step, the schedule has {got}", Axis::none,
                  schedule.steps.size());
  }
  if (step.body != Body::call) return refuse("the step has no call: it ends like '@ c64 * c r s'");
  if (step.once)
    return refuse("'once:' is for the transposition of weights: 'once: pack(w') ; ...'");
  if (step.sums.size() != 1)
    return refuse("this problem has one sum, the call has {got}", Axis::none, step.sums.size());
  if (step.marks.tree) return refuse("sum=tree is not built: private results are added one by one");
  if (step.marks.post_apart) return refuse("post=apart is not built: post-ops run on the tile");
  return std::nullopt;
}

/// The border that leaves some of these pixels out for some tap, if there is one.
const Border* clip_of(const Contraction& to, Axis pixels) {
  for (const Border& clip : to.clips) {
    const std::int64_t outs = to.extent(clip.out);
    const std::int64_t taps = to.extent(clip.tap);
    if (clip.out == pixels && pairs_on_image(clip, outs, taps) < outs * taps) return &clip;
  }
  return nullptr;
}

/// Threads share a sum with a result for each way, and only so.
Answer check_shared_sum(const Case& it, int at) {
  const Loop& loop = it.step.elements[at].loop;
  const Contraction& to = it.contraction;
  if (!loop.private_sum) {
    if (!loop.parallel || !to.is_sum(loop.axis)) return std::nullopt;
    return to.has_private_sums
               ? refuse("{axis} is summed: threads share it with '+' only", loop.axis)
               : refuse("{axis} is summed: threads cannot share it", loop.axis);
  }
  if (!to.has_private_sums)
    return refuse("this pass has no private sums: {axis} cannot have '+'", loop.axis);
  if (!to.is_sum(loop.axis)) return refuse("{axis} is not summed: it cannot have '+'", loop.axis);
  int parallel = 0;
  for (int i = 0; i < it.step.elements.size(); ++i) {
    const Loop& other = it.step.elements[i].loop;
    if (other.parallel) ++parallel;
    if (i != at && other.private_sum)
      return refuse("one sum of a step has '+', not {axis} too", loop.axis);
    if (i < at && other.axis == loop.axis)
      return refuse("the loop with '+' is the outermost over {axis}", loop.axis);
  }
  if (parallel > 1 && loop.ways == 0)
    return refuse("'+' beside other parallel loops needs ways, like {axis}/2+", loop.axis);
  const Border* clip = clip_of(to, loop.axis);
  if (clip != nullptr && place_of_loop(it.step, clip->tap) < at)
    return refuse("the loop with '+' stands left of one over {axis}", clip->tap);
  const std::int64_t ways = loop.ways == 0 ? it.conditions.threads : loop.ways;
  const std::int64_t rounds = (to.extent(loop.axis) + loop.step - 1) / loop.step;
  if (ways > rounds)
    return refuse("'+' has at most as many ways as {axis} has rounds: {limit}, not {got}",
                  loop.axis, ways, rounds);
  return std::nullopt;
}

/// Phases and taps come before the pixels that they leave.
Answer check_order(const Case& it) {
  const Contraction& to = it.contraction;
  if (to.phases.empty()) return std::nullopt;
  const int phases = place_of_loop(it.step, Axis::f);
  if (phases < 0) return refuse("nobody walks {axis}", Axis::f);
  if (it.step.elements[phases].loop.parallel)
    return refuse("{axis} is walked by every thread: phases differ in size", Axis::f);
  for (int i = 0; i < phases; ++i) {
    const Axis axis = it.step.elements[i].loop.axis;
    if (axis != to.line && axis != to.row && axis != Axis::r && axis != Axis::s) continue;
    return refuse("the loop over {axis} stands right of that over f", axis);
  }
  const int pack = pack_at(it.step);
  if (pack > phases) return refuse("the copy stands left of the loop over {axis}", Axis::f);
  return std::nullopt;
}

Answer check_loop(const Case& it, int at) {
  const Loop& loop = it.step.elements[at].loop;
  if (!it.contraction.has(loop.axis)) return refuse("this problem has no axis {axis}", loop.axis);
  if (loop.fused != Axis::none &&
      (loop.axis != it.contraction.line || loop.fused != it.contraction.row ||
       it.contraction.extents[static_cast<std::size_t>(kFlattened)] == kNoAxis)) {
    return refuse("this problem flattens no pair that begins with {axis}", loop.axis);
  }
  if (const Answer no = check_shared_sum(it, at)) return no;
  if (it.contraction.is_sum(loop.axis) && it.contraction.extent(loop.axis) == 0) {
    return refuse("{axis} is an empty sum: it belongs to the batch", loop.axis);
  }
  const bool is_tap = std::any_of(it.contraction.clips.begin(), it.contraction.clips.end(),
                                  [&loop](const Border& clip) { return clip.tap == loop.axis; });
  const bool is_walked_once = is_tap || loop.axis == Axis::f;
  if (is_walked_once && (loop.step != 1 || place_of_loop(it.step, loop.axis) != at)) {
    return refuse("{axis} is walked by one loop, one at a time", loop.axis);
  }
  for (int i = 0; i < at; ++i) {
    const Loop& outer = it.step.elements[i].loop;
    if (outer.axis != loop.axis || outer.fused != loop.fused) continue;
    if (loop.step >= outer.step) {
      return refuse("a step of {axis} must be smaller than the {limit} around it, not {got}",
                    loop.axis, loop.step, outer.step);
    }
  }
  return std::nullopt;
}

Answer check_grid(const Case& it) {
  std::int64_t threads = 1;
  int first = -1;
  int last = -1;
  bool ways = false;
  bool flat = false;
  bool has_private_sum = false;
  for (int i = 0; i < it.step.elements.size(); ++i) {
    const Loop& loop = it.step.elements[i].loop;
    if (it.step.elements[i].is_pack() || !loop.parallel) continue;
    if (first >= 0 && last != i - 1)
      return refuse("parallel loops stand together: {axis} does not", loop.axis);
    for (int j = std::max(first, 0); j < i; ++j) {
      const Loop& other = it.step.elements[j].loop;
      if (other.parallel && other.axis == loop.axis)
        return refuse("{axis} is twice in the grid", loop.axis);
    }
    if (first < 0) first = i;
    last = i;
    has_private_sum = has_private_sum || loop.private_sum;
    (loop.ways == 0 ? flat : ways) = true;
    threads = saturating_product(threads, std::max<std::int64_t>(loop.ways, 1));
  }
  if (ways && flat) return refuse("/ways stands behind every parallel loop or behind none");
  if (ways && threads != it.conditions.threads) {
    return refuse("the ways multiply to {got}, not to the {limit} threads", Axis::none, threads,
                  it.conditions.threads);
  }
  if (first < 0 && it.conditions.threads > 1)
    return refuse("no loop is parallel, but there are {limit} threads", Axis::none, 0,
                  it.conditions.threads);
  if (it.step.marks.deal == Deal::dynamic && (ways || has_private_sum || first != 0)) {
    return refuse("deal=dynamic needs a grid without /ways and '+' as the outermost loops");
  }
  return std::nullopt;
}

Answer check_outputs(const Case& it) {
  const Contraction& to = it.contraction;
  const bool flattened = flattens(it.step);
  for (const Axis axis : to.outputs) {
    const bool in_pair = flattened && (axis == to.line || axis == to.row);
    if (!in_pair && to.extent(axis) > 1 && steps_over(it.step, axis).empty()) {
      return refuse("nobody walks {axis}", axis);
    }
    const bool in_tile = axis == to.columns || axis == to.line || axis == to.row;
    if (!in_tile && last_step(to, it.step, axis) != 1) {
      return refuse("the last step of {axis} must be 1, not {got}: it is no side of a call", axis,
                    last_step(to, it.step, axis));
    }
  }
  if (flattened && !steps_over(it.step, to.row).empty()) {
    return refuse("{axis} stands in pq already", to.row);
  }
  return std::nullopt;
}

bool in_batch(const Sum& sum, Axis axis) {
  return std::find(sum.batch.begin(), sum.batch.end(), axis) != sum.batch.end();
}

Answer check_sums(const Case& it) {
  const Contraction& to = it.contraction;
  const Sum& sum = it.step.sums[0];
  if (sum.axis != to.depth) return refuse("the depth of a call is along {axis}", to.depth);
  for (int i = 0; i < sum.batch.size(); ++i) {
    if (!to.is_sum(sum.batch[i]))
      return refuse("{axis} is not summed: it cannot stand behind '*'", sum.batch[i]);
    for (int j = 0; j < i; ++j) {
      if (sum.batch[j] == sum.batch[i]) return refuse("{axis} is twice in the batch", sum.batch[i]);
    }
  }
  for (const Axis axis : to.sums) {
    const Steps steps = steps_over(it.step, axis);
    const std::int64_t left = axis == to.depth ? entry_depth(to, it.step) : 1;
    const std::int64_t reach =
        steps.empty() ? to.extent(axis) : std::min<std::int64_t>(steps.back(), to.extent(axis));
    if (!in_batch(sum, axis) && reach > left) return refuse("nobody walks {axis}", axis);
    if (in_batch(sum, axis) && reach <= left && to.extent(axis) > left) {
      return refuse("a loop walks {axis} already: it has no place in the batch", axis);
    }
  }
  return std::nullopt;
}

/// Blocked axes: a step is a multiple of the innermost one, and either divides the block or is a
/// multiple of it.
Answer check_blocked(const Case& it, Axis axis, std::int64_t innermost, std::int64_t block) {
  const std::int64_t extent = it.contraction.extent(axis);
  if (block != 0 && block % innermost != 0) {
    return refuse("{got} of {axis} do not divide the channel block of {limit}", axis, innermost,
                  block);
  }
  for (const std::int64_t step : steps_over(it.step, axis)) {
    if (step >= extent) continue;
    if (step % innermost != 0)
      return refuse("a step of {axis} must be a multiple of {limit}, not {got}", axis, step,
                    innermost);
    if (block != 0 && step % block != 0 && block % step != 0) {
      return refuse(
          "a step of {axis} must divide the channel block of {limit} or be a multiple, not {got}",
          axis, step, block);
    }
  }
  return std::nullopt;
}

Answer check_blocks(const Case& it) {
  const Contraction& to = it.contraction;
  if (to.extent(to.depth) > 0) {
    if (const Answer no = check_blocked(it, to.depth, entry_depth(to, it.step), to.depth_block))
      return no;
  }
  if (to.row_block != 0) {
    if (const Answer no = check_blocked(it, to.row, last_step(to, it.step, to.row), to.row_block))
      return no;
  }
  return check_blocked(it, to.columns, tile_columns(to, it.step), to.columns_block);
}

/// What stands right of a pack in a step with one.
Answer check_right_of_pack(const Case& it, int at, const char* parallel) {
  for (int i = at + 1; i < it.step.elements.size(); ++i) {
    const Element& element = it.step.elements[i];
    if (element.is_pack()) return refuse("a step packs once");
    if (element.loop.parallel) return refuse(parallel, element.loop.axis);
  }
  return std::nullopt;
}

Answer check_pack_of_weights(const Case& it, int at) {
  const Pack& pack = it.step.elements[at].pack;
  if (pack.operand != std::array<char, 4>{'w'} || !pack.transposed)
    return refuse("the operand to pack is w, transposed: pack(w')");
  for (int i = 0; i < at; ++i) {
    const Axis axis = it.step.elements[i].loop.axis;
    if (axis == Axis::r || axis == Axis::s)
      return refuse("the loop over {axis} stands right of pack(w')", axis);
  }
  return check_right_of_pack(it, at,
                             "pack(w') stands right of the parallel loops: {axis} is right of it");
}

Answer check_pack(const Case& it) {
  const int at = pack_at(it.step);
  if (it.step.marks.rim == Rim::copy && !packs_input(it.step))
    return refuse("rim=copy needs a copy of the input to hold the padding");
  if (at < 0) return std::nullopt;
  const Contraction& to = it.contraction;
  const Pack& pack = it.step.elements[at].pack;
  if (to.b_is_transposed && (packs_weights(it.step) || to.borders.empty())) {
    return check_pack_of_weights(it, at);
  }
  if (to.borders.empty()) return refuse("this problem packs nothing");
  const std::array<char, 4> input =
      to.b_is_transposed ? std::array<char, 4>{'d', 'y'} : std::array<char, 4>{'x'};
  if (pack.operand != input || pack.transposed) {
    return to.b_is_transposed ? refuse("the operands to pack are dy and w: pack(dy), pack(w')")
                              : refuse("the operand to pack is x: pack(x)");
  }
  if (!to.phases.empty()) return refuse("a strided pass by data has no copy of dy");
  if (it.step.marks.rim == Rim::copy && !to.has_rim())
    return refuse("rim=copy has no padding to copy");
  if (const Answer no = check_right_of_pack(
          it, at, "the copy stands right of the parallel loops: {axis} is right of it"))
    return no;
  for (int i = at + 1; i < it.step.elements.size(); ++i) {
    if (it.step.elements[i].loop.axis == Axis::n)
      return refuse("the copy stands right of the loop over {axis}", Axis::n);
  }
  for (int i = 0; i < at; ++i) {
    const Loop& loop = it.step.elements[i].loop;
    if (loop.axis == Axis::r || loop.axis == Axis::s || loop.fused != Axis::none) {
      return refuse("the loop over {axis} stands right of the copy", loop.axis);
    }
  }
  return std::nullopt;
}

/// A flattened pair is one row of the kernel: its pixels must follow each other at one stride,
/// without padding.
Answer check_rows(const Case& it) {
  const Contraction& to = it.contraction;
  const std::int64_t columns = tile_columns(to, it.step);
  if (flattens(it.step)) {
    if (has_windows(to, it.step))
      return refuse("flattened pixels cannot cross padding: a copy with rim=copy, or two loops");
    const Access a = packs_input(it.step) ? PackCopy(to, it.step).access() : to.a;
    const auto line = a[place(to.line)].inner;
    const auto row = a[place(to.row)].inner;
    if (to.extent(to.line) > 1 && line != row * to.extent(to.row)) {
      return refuse("flattened rows do not lie on one stride: a copy, or two loops");
    }
    return columns > kMostInt
               ? refuse("a call has at most {limit} columns", Axis::none, columns, kMostInt)
               : std::nullopt;
  }
  const std::int64_t rows = last_step(to, it.step, to.row);
  const std::int64_t lines = to.line == Axis::none ? 1 : last_step(to, it.step, to.line);
  if (lines > 1 && has_windows(to, it.step) && to.has_rim_down()) {
    return refuse(
        "a call over {got} lines of {axis} cannot cross padding: the last step of {axis} is 1",
        to.line, lines);
  }
  if (has_windows(to, it.step) && std::max(to.extent(to.row), to.extent(to.line)) > kMostLooked) {
    return refuse("an image side beyond {limit} pixels has no rim table", Axis::none,
                  to.extent(to.row), kMostLooked);
  }
  const std::int64_t largest =
      std::max({saturating_product(rows, lines), columns, entry_depth(to, it.step)});
  if (largest > kMostInt)
    return refuse("a call has at most {limit} rows, columns or depth, not {got}", Axis::none,
                  largest, kMostInt);
  return std::nullopt;
}

Answer check_batch(const Case& it) {
  if (it.step.marks.batch != BatchForm::stride) return std::nullopt;
  const Contraction& to = it.contraction;
  const Sum& sum = it.step.sums[0];
  int walked = 0;
  for (const Axis axis : sum.batch) {
    if (axis == to.depth ? to.extent(axis) > entry_depth(to, it.step) : to.extent(axis) > 1)
      ++walked;
  }
  if (walked > 1) return refuse("batch=stride walks one axis, not {got}", Axis::none, walked);
  if (has_windows(to, it.step)) return refuse("batch=stride cannot leave padding out");
  const bool packed = packs_input(it.step);
  if (!packed && to.depth_block != 0 && entry_depth(to, it.step) != to.depth_block) {
    return refuse("batch=stride needs a depth of a whole channel block of {limit}, not {got}",
                  to.depth, entry_depth(to, it.step), to.depth_block);
  }
  return std::nullopt;
}

bool aligned(const Access& access, std::int64_t to) {
  for (const AxisAccess& axis : access) {
    if ((axis.inner != 1 && axis.inner % to != 0) || axis.outer % to != 0) return false;
  }
  return true;
}

bool has_serial_loop(const Step& step, Axis axis) {
  for (const Element& element : step.elements) {
    if (!element.is_pack() && element.loop.axis == axis && !element.loop.parallel) return true;
  }
  return false;
}

Answer check_marks(const Case& it) {
  const Contraction& to = it.contraction;
  const Marks& marks = it.step.marks;
  const std::int64_t vector = lanes(it.conditions.isa);
  if (marks.vec != Axis::none && marks.vec != to.columns)
    return refuse("the vector dimension is {axis}", to.columns);
  if (marks.rotate != Axis::none) {
    if (!to.has(marks.rotate) || to.is_sum(marks.rotate))
      return refuse("rotate={axis}: only an output axis can start anywhere", marks.rotate);
    if (!has_serial_loop(it.step, marks.rotate))
      return refuse("rotate={axis}: no loop that every thread runs walks it", marks.rotate);
  }
  if (marks.next != Axis::none) {
    const bool walked = to.has(marks.next) && (!steps_over(it.step, marks.next).empty() ||
                                               (marks.next == to.line && flattens(it.step)));
    if (!walked || marks.next == to.columns) {
      return refuse("next={axis}: no loop over the input walks it", marks.next);
    }
  }
  const std::int64_t columns = tile_columns(to, it.step);
  if (marks.stream) {
    if (columns % vector != 0 || to.extent(to.columns) % columns != 0 || !aligned(to.c, vector)) {
      return refuse("store=stream needs rows of C in whole vectors of {limit}", Axis::none, columns,
                    vector);
    }
  }
  if (marks.tile_rows != 0) {
    const int tile_columns_used = marks.tile_cols;
    if (tile_columns_used % vector != 0 && tile_columns_used != columns) {
      return refuse("columns of a tile are a multiple of the vector of {limit}, not {got}",
                    Axis::none, tile_columns_used, vector);
    }
    BrgemmSpec spec{.isa = it.conditions.isa,
                    .m = marks.tile_rows,
                    .n = static_cast<int>(std::min<std::int64_t>(columns, marks.tile_cols)),
                    .k = 1,
                    .a_row_stride = 1,
                    .ldb = marks.tile_cols,
                    .ldc = marks.tile_cols,
                    .tile_rows = marks.tile_rows,
                    .tile_cols = marks.tile_cols};
    if (why_not(spec))
      return refuse("a tile of {got} rows and these columns does not fit the registers", Axis::none,
                    marks.tile_rows);
  }
  return std::nullopt;
}

}  // namespace

Answer why_not(const Contraction& contraction, const Schedule& schedule,
               const Conditions& conditions) {
  if (const Answer no = check_form(contraction, schedule, conditions)) return no;
  const Case it{contraction, main_step(schedule), conditions};
  for (int i = 0; i < it.step.elements.size(); ++i) {
    if (it.step.elements[i].is_pack()) continue;
    if (const Answer no = check_loop(it, i)) return no;
  }
  for (const auto check : {check_order, check_outputs, check_sums, check_blocks, check_grid,
                           check_pack, check_rows, check_batch, check_marks}) {
    if (const Answer no = check(it)) return no;
  }
  return std::nullopt;
}

Answer why_not(const Problem& problem, const Schedule& schedule, const Conditions& conditions) {
  if (std::holds_alternative<Lstm>(problem.shape))
    return why_not_lstm(problem, schedule, conditions);
  const auto found = contraction(problem);
  if (const auto* no = std::get_if<Refusal>(&found)) return *no;
  return why_not(std::get<Contraction>(found), schedule, conditions);
}

}  // namespace loopbrick
