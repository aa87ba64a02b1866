#include "loops/contraction.h"

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
  to.extents[static_cast<std::size_t>(index_of(axis))] = extent;
}

AxisAccess& at(Access& access, Axis axis) {
  return access[static_cast<std::size_t>(index_of(axis))];
}

/// Strides of an activation [image][channel][row][column] in the problem's layout.
void lay_activation(Access& access, Layout layout, std::int64_t channels, std::int64_t rows,
                    std::int64_t columns, Axis image, Axis channel, Axis row, Axis column) {
  const std::int64_t block = channel_block(layout, channels);
  at(access, image) = {.inner = channels * rows * columns};
  at(access, channel) = {.inner = 1};
  if (block < channels) at(access, channel) = {1, block, rows * columns * block};
  at(access, row) = {.inner = columns * block};
  at(access, column) = {.inner = block};
}

/// Pixels (p, q) as one axis, where consecutive ones lie at one stride.
void flatten(Contraction& to) {
  const auto flat = static_cast<std::size_t>(kFlattened);
  to.extents[flat] = to.extent(Axis::p) * to.extent(Axis::q);
  to.c[flat] = at(to.c, Axis::q);
  to.a[flat] = at(to.a, Axis::q);
}

Contraction of(const Conv& conv, Layout layout) {
  Contraction to;
  set_extent(to, Axis::n, conv.n);
  set_extent(to, Axis::k, conv.k);
  set_extent(to, Axis::p, conv.p);
  set_extent(to, Axis::q, conv.q);
  set_extent(to, Axis::c, conv.c);
  set_extent(to, Axis::r, conv.r);
  set_extent(to, Axis::s, conv.s);
  to.outputs = {Axis::n, Axis::k, Axis::p, Axis::q};
  to.sums = {Axis::c, Axis::r, Axis::s};
  to.columns = Axis::k;
  to.line = Axis::p;
  to.row = Axis::q;
  to.depth = Axis::c;
  lay_activation(to.c, layout, conv.k, conv.p, conv.q, Axis::n, Axis::k, Axis::p, Axis::q);
  lay_activation(to.a, layout, conv.c, conv.h, conv.w, Axis::n, Axis::c, Axis::r, Axis::s);
  const std::int64_t line = at(to.a, Axis::r).inner;
  const std::int64_t pixel = at(to.a, Axis::s).inner;
  to.borders = {{Axis::p, Axis::r, conv.stride_h, conv.dilation_h, conv.pad_h, conv.h, line},
                {Axis::q, Axis::s, conv.stride_w, conv.dilation_w, conv.pad_w, conv.w, pixel}};
  at(to.a, Axis::p).inner = line * conv.stride_h;
  at(to.a, Axis::q).inner = pixel * conv.stride_w;
  at(to.a, Axis::r).inner = line * conv.dilation_h;
  at(to.a, Axis::s).inner = pixel * conv.dilation_w;
  to.a_origin = -(conv.pad_h * line + conv.pad_w * pixel);
  to.plan_lays_out_b = true;
  to.depth_block = at(to.a, Axis::c).block;
  to.columns_block = at(to.c, Axis::k).block;
  flatten(to);
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

/// Strides of a fully connected layer's activation [channel block][entry][channel].
void lay_entries(Access& access, Layout layout, std::int64_t entries, std::int64_t channels,
                 Axis entry, Axis channel) {
  const std::int64_t block = channel_block(layout, channels);
  at(access, entry) = {.inner = block};
  at(access, channel) = {.inner = 1};
  if (block < channels) at(access, channel) = {1, block, entries * block};
}

/// Forward: y[n][k] = x[n][c] w[c][k]; backward by data: dx[n][c] = dy[n][k] w'[k][c]; by weights:
/// dw[c][k] = x'[c][n] dy[n][k], where A has its sum along the rows of memory and needs no
/// transposition.
Contraction of(const Fc& fc, Pass pass, Layout layout) {
  Contraction to;
  set_extent(to, Axis::n, fc.n);
  set_extent(to, Axis::k, fc.k);
  set_extent(to, Axis::c, fc.c);
  const bool by_weights = pass == Pass::bwd_w;
  to.row = by_weights ? Axis::c : Axis::n;
  to.columns = pass == Pass::bwd_d ? Axis::c : Axis::k;
  to.depth = pass == Pass::fwd ? Axis::c : pass == Pass::bwd_d ? Axis::k : Axis::n;
  to.outputs = {to.row, to.columns};
  to.sums = {to.depth};
  if (by_weights) {
    lay_entries(to.a, layout, fc.n, fc.c, Axis::n, Axis::c);
    lay_entries(to.b, layout, fc.n, fc.k, Axis::n, Axis::k);
    lay_entries(to.c, layout, fc.c, fc.k, Axis::c, Axis::k);  // as the forward pass wants weights
    to.row_block = at(to.a, Axis::c).block;
  } else {
    lay_entries(to.a, layout, fc.n, to.extent(to.depth), Axis::n, to.depth);
    lay_entries(to.c, layout, fc.n, to.extent(to.columns), Axis::n, to.columns);
    to.depth_block = at(to.a, to.depth).block;
    to.plan_lays_out_b = pass == Pass::fwd;
    to.b_is_transposed = pass == Pass::bwd_d;
  }
  to.columns_block = at(to.c, to.columns).block;
  return to;
}

}  // namespace

bool Contraction::is_sum(Axis axis) const { return contains(sums, axis); }

bool Contraction::has_rim() const {
  for (const Border& border : borders) {
    const std::int64_t last = border.input(extent(border.out) - 1, extent(border.tap) - 1);
    if (border.pad > 0 || last >= border.extent) return true;
  }
  return false;
}

std::variant<Contraction, Refusal> contraction(const Problem& problem) {
  if (problem.type != DType::f32) return Refusal{.sentence = "only f32 has kernels"};
  const auto* fc = std::get_if<Fc>(&problem.shape);
  const bool is_backward = problem.pass == Pass::bwd_d || problem.pass == Pass::bwd_w;
  if (problem.pass != Pass::fwd && !(fc != nullptr && is_backward)) {
    return Refusal{.sentence = "this pass of the primitive has no loops"};
  }
  if (fc != nullptr) return of(*fc, problem.pass, problem.layout);
  if (const auto* gemm = std::get_if<Gemm>(&problem.shape)) return of(*gemm);
  if (const auto* conv = std::get_if<Conv>(&problem.shape)) {
    if (conv->groups != 1) {
      return Refusal{.sentence = "groups have no loops: {got} groups", .got = conv->groups};
    }
    return of(*conv, problem.layout);
  }
  return Refusal{.sentence = "only conv, fc and gemm have loops"};
}

}  // namespace loopbrick
