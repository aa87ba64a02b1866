#include "baselines/onednn_recipes.h"

namespace loopbrick {
namespace {

/// The matrices of a layer, or their gradients, which have the same shapes.
struct FcMatrices {
  FcMatrices(const Fc& fc, Tag tag)
      : x(f32({fc.n, fc.c}, tag)), w(f32({fc.k, fc.c}, tag)), y(f32({fc.n, fc.k}, tag)) {}

  memory::desc x, w, y;
};

using FcForward = dnnl::inner_product_forward;
using FcBackwardData = dnnl::inner_product_backward_data;
using FcBackwardWeights = dnnl::inner_product_backward_weights;

FcForward::primitive_desc fc_forward(const dnnl::engine& engine, const Problem& problem,
                                     const FcMatrices& m) {
  const memory::desc bias = bias_desc(problem, std::get<Fc>(problem.shape).k);
  return {{dnnl::prop_kind::forward_training, m.x, m.w, bias, m.y}, attributes(problem), engine};
}

/// Where a backward pass gets the gradient of its sums from: nobody behind an activation.
Port gradient_port(const Problem& problem, const memory::desc& plain, const memory::desc& own) {
  const bool is_behind = problem.activation != Activation::none;
  return input_port(is_behind ? "" : "dy", DNNL_ARG_DIFF_DST, plain, own);
}

Recipe fc_backward_data(const dnnl::engine& engine, const Problem& problem, const FcMatrices& m,
                        const FcMatrices& plain) {
  const FcBackwardData::primitive_desc made({m.x, m.w, m.y}, attributes(problem), engine,
                                            fc_forward(engine, problem, m));
  return recipe_of<FcBackwardData>(
      engine, made,
      {gradient_port(problem, plain.y, made.diff_dst_desc()),
       input_port("w", DNNL_ARG_WEIGHTS, plain.w, made.weights_desc()),
       output_port("dx", DNNL_ARG_DIFF_SRC, plain.x, made.diff_src_desc())});
}

Recipe fc_backward_weights(const dnnl::engine& engine, const Problem& problem, const FcMatrices& m,
                           const FcMatrices& plain) {
  const memory::desc bias = bias_desc(problem, std::get<Fc>(problem.shape).k);
  const FcBackwardWeights::primitive_desc made({m.x, m.w, bias, m.y}, attributes(problem), engine,
                                               fc_forward(engine, problem, m));
  std::vector<Port> ports{
      input_port("x", DNNL_ARG_SRC, plain.x, made.src_desc()),
      gradient_port(problem, plain.y, made.diff_dst_desc()),
      output_port("dw", DNNL_ARG_DIFF_WEIGHTS, plain.w, made.diff_weights_desc())};
  if (problem.bias)
    ports.push_back(output_port("db", DNNL_ARG_DIFF_BIAS, bias, made.diff_bias_desc()));
  return recipe_of<FcBackwardWeights>(engine, made, std::move(ports));
}

}  // namespace

Recipe onednn_fc(const dnnl::engine& engine, const Problem& problem, Tag activations) {
  const Fc& fc = std::get<Fc>(problem.shape);
  const FcMatrices plain(fc, Tag::ab);
  const FcMatrices wanted(fc, activations == Tag::any ? Tag::any : Tag::ab);
  if (problem.pass == Pass::bwd_d) return fc_backward_data(engine, problem, wanted, plain);
  if (problem.pass == Pass::bwd_w) return fc_backward_weights(engine, problem, wanted, plain);
  const FcForward::primitive_desc made = fc_forward(engine, problem, wanted);
  return recipe_of<FcForward>(engine, made,
                              forward_ports(problem, made, plain.x, plain.w, plain.y));
}

}  // namespace loopbrick
