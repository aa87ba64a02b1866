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

}  // namespace

bool Contraction::is_sum(Axis axis) const { return contains(sums, axis); }
bool Contraction::is_output(Axis axis) const { return contains(outputs, axis); }

bool Contraction::has_rim() const {
  for (const Border& border : borders) {
    const std::int64_t last = border.input(extent(border.out) - 1, extent(border.tap) - 1);
    if (border.pad > 0 || last >= border.extent) return true;
  }
  return false;
}

std::variant<Contraction, Refusal> contraction(const Problem& problem) {
  if (problem.type != DType::f32) return Refusal{.sentence = "only f32 has kernels"};
  if (problem.pass != Pass::fwd) return Refusal{.sentence = "only the fwd pass has loops"};
  if (const auto* gemm = std::get_if<Gemm>(&problem.shape)) return of(*gemm);
  if (const auto* conv = std::get_if<Conv>(&problem.shape)) {
    if (conv->groups != 1) {
      return Refusal{.sentence = "groups have no loops: {got} groups", .got = conv->groups};
    }
    return of(*conv, problem.layout);
  }
  return Refusal{.sentence = "only conv and gemm have loops"};
}

}  // namespace loopbrick
