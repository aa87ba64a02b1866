#include "baselines/onednn_recipes.h"

namespace loopbrick {
namespace {

using Forward = dnnl::convolution_forward;
using BackwardData = dnnl::convolution_backward_data;
using BackwardWeights = dnnl::convolution_backward_weights;

constexpr auto kDirect = dnnl::algorithm::convolution_direct;

/// Padding after the last pixel that the filter reaches; negative where it does not reach them all.
memory::dim far_padding(memory::dim outputs, memory::dim stride, memory::dim taps,
                        memory::dim dilation, memory::dim inputs, memory::dim padding) {
  return (outputs - 1) * stride + (taps - 1) * dilation + 1 - inputs - padding;
}

/// What lies between the pixels of a convolution, as oneDNN counts it: a dense filter is dilated by
/// 0.
struct Window {
  explicit Window(const Conv& c)
      : strides{c.stride_h, c.stride_w},
        dilations{c.dilation_h - 1, c.dilation_w - 1},
        near{c.pad_h, c.pad_w},
        far{far_padding(c.p, c.stride_h, c.r, c.dilation_h, c.h, c.pad_h),
            far_padding(c.q, c.stride_w, c.s, c.dilation_w, c.w, c.pad_w)} {}

  memory::dims strides, dilations, near, far;
};

memory::dims weight_extents(const Conv& c) {
  if (c.groups == 1) return {c.k, c.c, c.r, c.s};
  return {c.groups, c.k / c.groups, c.c / c.groups, c.r, c.s};
}

/// The tensors of a layer, or their gradients, which have the same shapes.
struct Tensors {
  Tensors(const Conv& c, Tag activations, Tag filter)
      : x(f32({c.n, c.c, c.h, c.w}, activations)),
        w(f32(weight_extents(c), filter)),
        y(f32({c.n, c.k, c.p, c.q}, activations)) {}

  memory::desc x, w, y;
};

/// forward_training: with forward_inference, `any` means channels-last to this oneDNN wherever that
/// has a kernel, and its blocked kernels, which win some layers, would be in neither row. Nothing
/// else differs.
Forward::primitive_desc forward(const dnnl::engine& engine, const Problem& problem,
                                const Tensors& t) {
  const Conv& conv = std::get<Conv>(problem.shape);
  const Window window(conv);
  return {{dnnl::prop_kind::forward_training, kDirect, t.x, t.w, bias_desc(problem, conv.k), t.y,
           window.strides, window.dilations, window.near, window.far},
          attributes(problem),
          engine};
}

Recipe backward_data(const dnnl::engine& engine, const Problem& problem, const Tensors& t,
                     const Tensors& plain) {
  const Window window(std::get<Conv>(problem.shape));
  const BackwardData::primitive_desc made(
      {kDirect, t.x, t.w, t.y, window.strides, window.dilations, window.near, window.far},
      attributes(problem), engine, forward(engine, problem, t));
  return recipe_of<BackwardData>(
      engine, made,
      {input_port("dy", DNNL_ARG_DIFF_DST, plain.y, made.diff_dst_desc()),
       input_port("w", DNNL_ARG_WEIGHTS, plain.w, made.weights_desc()),
       output_port("dx", DNNL_ARG_DIFF_SRC, plain.x, made.diff_src_desc())});
}

Recipe backward_weights(const dnnl::engine& engine, const Problem& problem, const Tensors& t,
                        const Tensors& plain) {
  const Window window(std::get<Conv>(problem.shape));
  const BackwardWeights::primitive_desc made(
      {kDirect, t.x, t.w, t.y, window.strides, window.dilations, window.near, window.far},
      attributes(problem), engine, forward(engine, problem, t));
  return recipe_of<BackwardWeights>(
      engine, made,
      {input_port("x", DNNL_ARG_SRC, plain.x, made.src_desc()),
       input_port("dy", DNNL_ARG_DIFF_DST, plain.y, made.diff_dst_desc()),
       output_port("dw", DNNL_ARG_DIFF_WEIGHTS, plain.w, made.diff_weights_desc())});
}

}  // namespace

Recipe onednn_conv(const dnnl::engine& engine, const Problem& problem, Tag activations) {
  const Conv& conv = std::get<Conv>(problem.shape);
  const Tensors plain(conv, Tag::nchw, conv.groups == 1 ? Tag::oihw : Tag::goihw);
  const Tensors wanted(conv, activations, Tag::any);
  if (problem.pass == Pass::bwd_d) return backward_data(engine, problem, wanted, plain);
  if (problem.pass == Pass::bwd_w) return backward_weights(engine, problem, wanted, plain);
  const Forward::primitive_desc made = forward(engine, problem, wanted);
  return recipe_of<Forward>(engine, made, forward_ports(problem, made, plain.x, plain.w, plain.y));
}

}  // namespace loopbrick
