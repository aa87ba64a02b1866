#include "loops/contraction.h"

#include <algorithm>
#include <numeric>

#include "loops/operand_layout.h"
#include "loops/ranges.h"

namespace loopbrick {

namespace {

template <int Capacity>
bool contains(const Few<Axis, Capacity>& axes, Axis axis) {
  for (const Axis each : axes) {
    if (each == axis) return true;
  }
  return false;
}

void set_extent(Contraction& to, Axis axis, std::int64_t extent) {
  to.extents[place(axis)] = extent;
}

AxisAccess& at(Access& access, Axis axis) { return access[place(axis)]; }

void lay(Access& access, const ImageAccess& image, Axis channel) {
  at(access, Axis::n) = image.image;
  at(access, channel) = image.channel;
}

/// Pixels (line, row) as one axis, where consecutive ones lie at one stride.
void flatten(Contraction& to) {
  const auto flat = static_cast<std::size_t>(kFlattened);
  to.extents[flat] = to.extent(to.line) * to.extent(to.row);
  to.c[flat] = at(to.c, to.row);
  to.a[flat] = at(to.a, to.row);
}

/// The input of a convolution as its output pixels and taps reach it.
void lay_input(Contraction& to, const Conv& conv, Layout layout, Few<Border, 2>& borders) {
  const ImageAccess x = image_access(layout, conv.c, conv.h, conv.w);
  lay(to.a, x, Axis::c);
  const std::int64_t line = x.row.inner;
  const std::int64_t pixel = x.column.inner;
  borders = {{Axis::p, Axis::r, conv.stride_h, conv.dilation_h, conv.pad_h, conv.h, line},
             {Axis::q, Axis::s, conv.stride_w, conv.dilation_w, conv.pad_w, conv.w, pixel}};
  at(to.a, Axis::p).inner = line * conv.stride_h;
  at(to.a, Axis::q).inner = pixel * conv.stride_w;
  at(to.a, Axis::r).inner = line * conv.dilation_h;
  at(to.a, Axis::s).inner = pixel * conv.dilation_w;
  to.a_origin = -(conv.pad_h * line + conv.pad_w * pixel);
}

void lay_pixels(Access& access, const ImageAccess& image, Axis line, Axis row) {
  at(access, line) = image.row;
  at(access, row) = image.column;
}

Contraction forward(const Conv& conv, Layout layout) {
  Contraction to;
  for (const auto& [axis, extent] : {std::pair{Axis::n, conv.n},
                                     {Axis::k, conv.k},
                                     {Axis::p, conv.p},
                                     {Axis::q, conv.q},
                                     {Axis::c, conv.c},
                                     {Axis::r, conv.r},
                                     {Axis::s, conv.s}}) {
    set_extent(to, axis, extent);
  }
  to.outputs = {Axis::n, Axis::k, Axis::p, Axis::q};
  to.sums = {Axis::c, Axis::r, Axis::s};
  to.columns = Axis::k;
  to.line = Axis::p;
  to.row = Axis::q;
  to.depth = Axis::c;
  lay_input(to, conv, layout, to.borders);
  const ImageAccess y = image_access(layout, conv.k, conv.p, conv.q);
  lay(to.c, y, Axis::k);
  lay_pixels(to.c, y, Axis::p, Axis::q);
  to.plan_lays_out_b = true;
  to.depth_block = at(to.a, Axis::c).block;
  to.columns_block = at(to.c, Axis::k).block;
  flatten(to);
  return to;
}

/// dw[k][c][r][s] = sum over n, p, q of x'[c][pixel] dy[pixel][k]: A has its sum along pixels and
/// its rows along channels, which needs no transposition.
Contraction by_weights(const Problem& problem, const Conv& conv) {
  Contraction to = forward(conv, problem.layout);
  to.extents[static_cast<std::size_t>(kFlattened)] = kNoAxis;
  to.outputs = {Axis::k, Axis::c, Axis::r, Axis::s};
  to.sums = {Axis::n, Axis::p, Axis::q};
  to.line = Axis::none;
  to.row = Axis::c;
  to.depth = Axis::q;
  to.clips = to.borders;
  to.borders = {};
  to.b = to.c;
  to.c = forward_weights(problem).access();
  to.plan_lays_out_b = false;
  to.has_private_sums = true;
  to.depth_block = 0;
  to.row_block = at(to.a, Axis::c).block;
  return to;
}

/// One direction of the phases: pixels first, first + stride, ... of the input, and the taps,
/// counted backwards, that reach them.
struct Side {
  std::int64_t first = 0, pixels = 0;
  std::int64_t tap = 0, taps = 0;
  Border border;
};

std::vector<Side> sides(const Border& forward_border, std::int64_t inputs, std::int64_t outputs,
                        std::int64_t taps, Axis out, std::int64_t pitch) {
  const Border& from = forward_border;
  const std::int64_t apart = from.stride / std::gcd(from.stride, from.dilation);
  std::vector<Side> all;
  for (std::int64_t first = 0; first < std::min(from.stride, inputs); ++first) {
    Side side{.first = first, .pixels = (inputs - first + from.stride - 1) / from.stride};
    std::int64_t output = 0;  // that the first of the taps takes from for the first of the pixels
    for (std::int64_t back = 0; back < taps; ++back) {
      const std::int64_t reach = first + from.pad - (taps - 1 - back) * from.dilation;
      if (reach % from.stride != 0) continue;
      if (side.taps++ > 0) continue;
      side.tap = back;
      output = reach / from.stride;
    }
    side.border = {.out = out,
                   .tap = from.tap,
                   .stride = 1,
                   .dilation = apart * from.dilation / from.stride,
                   .pad = -output,
                   .extent = outputs,
                   .pitch = pitch};
    all.push_back(side);
  }
  return all;
}

/// Columns that groups of pixels fill at most: a vector of the widest kind.
constexpr std::int64_t kGroupedColumns = 16;

/// The largest groups that fill a vector and divide a row of pixels; groups of one if there are
/// none.
PixelGroup pixel_group(const Conv& conv, Layout layout) {
  PixelGroup group{
      .stride = conv.stride_w, .dilation = conv.dilation_w, .pad = conv.pad_w, .filter = conv.s};
  if (channel_block(layout, conv.c) != conv.c) return {};
  for (std::int64_t pixels = kGroupedColumns / conv.c; pixels > 1; --pixels) {
    if (pixels % conv.stride_w == 0 && conv.w % pixels == 0) {
      group.pixels = pixels;
      break;
    }
  }
  if (group.pixels == 1) return {};
  group.first = conv.q;
  std::int64_t last = -conv.q;
  for (std::int64_t g = 0; g < group.pixels; ++g) {
    for (std::int64_t s = 0; s < conv.s; ++s) {
      const std::int64_t reach = g + conv.pad_w - s * conv.dilation_w;
      if (reach % conv.stride_w != 0) continue;
      group.first = std::min(group.first, reach / conv.stride_w);
      last = std::max(last, reach / conv.stride_w);
    }
  }
  group.taps = last - group.first + 1;
  return group.taps > 0 ? group : PixelGroup{};
}

/// The one side of grouped pixels: a row is a group, the taps are those of the groups.
Side grouped_side(const PixelGroup& group, const Conv& conv, std::int64_t pitch) {
  return {.pixels = conv.w / group.pixels,
          .taps = group.taps,
          .border = {.out = Axis::w,
                     .tap = Axis::s,
                     .stride = group.pixels / group.stride,
                     .dilation = 1,
                     .pad = -group.first,
                     .extent = conv.q,
                     .pitch = pitch}};
}

Phase phase(const Side& down, const Side& across, const ImageAccess& dx) {
  Phase phase{
      .lines = down.pixels,
      .rows = across.pixels,
      .first_down = down.tap,
      .first_across = across.tap,
      .taps_down = down.taps,
      .taps_across = across.taps,
      .is_empty = down.taps * across.taps == 0,
      .borders = {down.border, across.border},
      .a_origin = -(down.border.pad * down.border.pitch + across.border.pad * across.border.pitch),
      .c_origin = down.first * dx.row.inner + across.first * dx.column.inner};
  if (!phase.is_empty) return phase;
  phase.taps_down = phase.taps_across = 1;  // one that lies nowhere
  phase.a_origin = 0;
  for (Border& border : phase.borders) border.extent = border.pad = 0;
  return phase;
}

void take(Contraction& to, const Phase& phase) {
  set_extent(to, to.line, phase.lines);
  set_extent(to, to.row, phase.rows);
  set_extent(to, Axis::r, phase.taps_down);
  set_extent(to, Axis::s, phase.taps_across);
  to.borders = phase.borders;
}

/// dx[n][c][h][w] = sum over k and those taps r, s that reach (h, w) of dy[n][k][p][q]
/// w'[k][c][r][s] with the taps counted backwards: p = (h + pad - r * dilation) / stride, wherever
/// that is whole.
Contraction by_data(const Problem& problem, const Conv& conv) {
  const ImageAccess dy = image_access(problem.layout, conv.k, conv.p, conv.q);
  const ImageAccess dx = image_access(problem.layout, conv.c, conv.h, conv.w);
  const Contraction fwd = forward(conv, problem.layout);
  const auto down = sides(fwd.borders[0], conv.h, conv.p, conv.r, Axis::h, dy.row.inner);
  Contraction to;
  to.group = pixel_group(conv, problem.layout);
  const bool is_grouped = to.group.pixels > 1;
  const auto across = is_grouped
                          ? std::vector<Side>{grouped_side(to.group, conv, dy.column.inner)}
                          : sides(fwd.borders[1], conv.w, conv.q, conv.s, Axis::w, dy.column.inner);
  set_extent(to, Axis::n, conv.n);
  set_extent(to, Axis::c, conv.c * to.group.pixels);
  set_extent(to, Axis::k, conv.k);
  to.columns = Axis::c;
  to.line = Axis::h;
  to.row = Axis::w;
  to.depth = Axis::k;
  to.outputs = {Axis::n, Axis::c, Axis::h, Axis::w};
  to.sums = {Axis::k, Axis::r, Axis::s};
  for (const Side& line : down) {
    for (const Side& row : across) to.phases.push_back(phase(line, row, dx));
  }
  const auto taps_of = [](const Phase& phase) {
    return phase.is_empty ? 0 : phase.taps_down * phase.taps_across;
  };
  take(to, *std::max_element(to.phases.begin(), to.phases.end(), [&](const auto& a, const auto& b) {
         return taps_of(a) < taps_of(b);
       }));
  for (const Phase& each : to.phases) {
    set_extent(to, Axis::h, std::max(to.extent(Axis::h), each.lines));
    set_extent(to, Axis::w, std::max(to.extent(Axis::w), each.rows));
  }
  lay(to.a, dy, Axis::k);
  lay_pixels(to.a, dy, Axis::h, Axis::w);
  at(to.a, Axis::w).inner *= to.borders[1].stride;
  at(to.a, Axis::r).inner = dy.row.inner * to.borders[0].dilation;
  at(to.a, Axis::s).inner = dy.column.inner * to.borders[1].dilation;
  lay(to.c, dx, Axis::c);
  at(to.c, Axis::h).inner = dx.row.inner * conv.stride_h;
  at(to.c, Axis::w).inner = dx.column.inner * (is_grouped ? to.group.pixels : conv.stride_w);
  to.b_is_transposed = true;
  to.tap_step_down = conv.stride_h / std::gcd(conv.stride_h, conv.dilation_h);
  if (!is_grouped) to.tap_step_across = conv.stride_w / std::gcd(conv.stride_w, conv.dilation_w);
  to.depth_block = at(to.a, Axis::k).block;
  to.columns_block = at(to.c, Axis::c).block;
  to.filter_down = conv.r;
  to.filter_across = conv.s;
  if (conv.stride_h == 1 && (conv.stride_w == 1 || is_grouped)) {
    to.a_origin = to.phases[0].a_origin;
    to.phases.clear();
    flatten(to);
  } else {
    set_extent(to, Axis::f, static_cast<std::int64_t>(to.phases.size()));
    to.outputs = {Axis::n, Axis::c, Axis::f, Axis::h, Axis::w};
  }
  return to;
}

Contraction of(const Gemm& gemm) {
  Contraction to;
  set_extent(to, Axis::m, gemm.m);
  set_extent(to, Axis::n, gemm.n);
  set_extent(to, Axis::k, gemm.k);
  set_extent(to, Axis::b, gemm.batch);
  to.outputs = {Axis::m, Axis::n};
  to.sums = {Axis::k, Axis::b};
  to.columns = Axis::n;
  to.row = Axis::m;
  to.depth = Axis::k;
  at(to.a, Axis::m).inner = gemm.lda;
  at(to.a, Axis::k).inner = 1;
  at(to.a, Axis::b).inner = gemm.m * gemm.lda;
  at(to.b, Axis::k).inner = gemm.ldb;
  at(to.b, Axis::n).inner = 1;
  at(to.b, Axis::b).inner = gemm.k * gemm.ldb;
  at(to.c, Axis::m).inner = gemm.ldc;
  at(to.c, Axis::n).inner = 1;
  return to;
}

void lay_entries(Access& access, Layout layout, std::int64_t entries, std::int64_t channels,
                 Axis channel) {
  const EntryAccess lies = entry_access(layout, entries, channels);
  at(access, Axis::n) = lies.entry;
  at(access, channel) = lies.channel;
}

/// Forward: y[n][k] = x[n][c] w[c][k]; backward by data: dx[n][c] = dy[n][k] w'[k][c]; by weights:
/// dw[c][k] = x'[c][n] dy[n][k], where A has its sum along the rows of memory and needs no
/// transposition.
Contraction of(const Problem& problem, const Fc& fc) {
  Contraction to;
  set_extent(to, Axis::n, fc.n);
  set_extent(to, Axis::k, fc.k);
  set_extent(to, Axis::c, fc.c);
  const Pass pass = problem.pass;
  const bool by_weights = pass == Pass::bwd_w;
  to.row = by_weights ? Axis::c : Axis::n;
  to.columns = pass == Pass::bwd_d ? Axis::c : Axis::k;
  to.depth = pass == Pass::fwd ? Axis::c : pass == Pass::bwd_d ? Axis::k : Axis::n;
  to.outputs = {to.row, to.columns};
  to.sums = {to.depth};
  if (by_weights) {
    lay_entries(to.a, problem.layout, fc.n, fc.c, Axis::c);
    lay_entries(to.b, problem.layout, fc.n, fc.k, Axis::k);
    to.c = forward_weights(problem).access();
    to.row_block = at(to.a, Axis::c).block;
    to.has_private_sums = true;
  } else {
    lay_entries(to.a, problem.layout, fc.n, to.extent(to.depth), to.depth);
    lay_entries(to.c, problem.layout, fc.n, to.extent(to.columns), to.columns);
    to.depth_block = at(to.a, to.depth).block;
    to.plan_lays_out_b = pass == Pass::fwd;
    to.b_is_transposed = pass == Pass::bwd_d;
  }
  to.columns_block = at(to.c, to.columns).block;
  return to;
}

bool has_rim(const Border& border, std::int64_t outs, std::int64_t taps) {
  return border.input(0, 0) < 0 || border.input(outs - 1, taps - 1) >= border.extent;
}

}  // namespace

bool Contraction::is_sum(Axis axis) const { return contains(sums, axis); }

bool Contraction::is_at_border(std::size_t axis) const {
  if (axis == place(Axis::f)) return true;
  for (const auto* all : {&borders, &clips}) {
    for (const Border& border : *all) {
      if (axis == place(border.out) || axis == place(border.tap)) return true;
    }
  }
  return false;
}

bool Contraction::has_rim_down() const {
  if (phases.empty()) {
    return !borders.empty() &&
           loopbrick::has_rim(borders[0], extent(borders[0].out), extent(borders[0].tap));
  }
  return std::any_of(phases.begin(), phases.end(), [](const Phase& each) {
    return !each.is_empty && loopbrick::has_rim(each.borders[0], each.lines, each.taps_down);
  });
}

bool Contraction::has_rim() const {
  if (borders.empty()) return false;
  if (has_rim_down()) return true;
  if (phases.empty()) {
    return loopbrick::has_rim(borders[1], extent(borders[1].out), extent(borders[1].tap));
  }
  return std::any_of(phases.begin(), phases.end(), [](const Phase& each) {
    return !each.is_empty && loopbrick::has_rim(each.borders[1], each.rows, each.taps_across);
  });
}

Contraction Contraction::in_phase(std::size_t phase) const {
  Contraction one = *this;
  if (!phases.empty()) take(one, phases[phase]);
  one.phases.clear();
  return one;
}

double Contraction::pairs() const {
  double count = 0.0;
  for (std::size_t phase = 0; phase < std::max<std::size_t>(1, phases.size()); ++phase) {
    const Contraction one = in_phase(phase);
    double product = 1.0;
    for (const auto* all : {&one.borders, &one.clips}) {
      for (const Border& border : *all) {
        product *= static_cast<double>(one.extent(border.out) * one.extent(border.tap));
      }
    }
    count += product;
  }
  return count;
}

double Contraction::pairs_on_image() const {
  double count = 0.0;
  for (std::size_t phase = 0; phase < std::max<std::size_t>(1, phases.size()); ++phase) {
    const Contraction one = in_phase(phase);
    double product = 1.0;
    for (const auto* all : {&one.borders, &one.clips}) {
      for (const Border& border : *all) {
        product *= static_cast<double>(
            loopbrick::pairs_on_image(border, one.extent(border.out), one.extent(border.tap)));
      }
    }
    count += product;
  }
  return count;
}

std::variant<Contraction, Refusal> contraction(const Problem& problem) {
  if (problem.type != DType::f32) return Refusal{.sentence = "only f32 has kernels"};
  const bool is_backward = problem.pass == Pass::bwd_d || problem.pass == Pass::bwd_w;
  const bool is_layer =
      std::holds_alternative<Fc>(problem.shape) || std::holds_alternative<Conv>(problem.shape);
  if (problem.pass != Pass::fwd && !(is_layer && is_backward)) {
    return Refusal{.sentence = "this pass of the primitive has no loops"};
  }
  if (const auto* fc = std::get_if<Fc>(&problem.shape)) return of(problem, *fc);
  if (const auto* gemm = std::get_if<Gemm>(&problem.shape)) return of(*gemm);
  if (const auto* conv = std::get_if<Conv>(&problem.shape)) {
    if (conv->groups != 1) {
      return Refusal{.sentence = "groups have no loops: {got} groups", .got = conv->groups};
    }
    if (problem.pass == Pass::bwd_w) return by_weights(problem, *conv);
    return is_backward ? by_data(problem, *conv) : forward(*conv, problem.layout);
  }
  return Refusal{.sentence = "an lstm is several contractions, each of a step"};
}

}  // namespace loopbrick
