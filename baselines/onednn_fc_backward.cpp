#include "baselines/onednn_fc_backward.h"

#include <algorithm>
#include <memory>

namespace loopbrick {
namespace {

/// Of the derivative by what the activation keeps: its result, or of gelu its argument.
dnnl::algorithm slope_algorithm(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return dnnl::algorithm::eltwise_relu_use_dst_for_bwd;
    case Activation::sigmoid:
      return dnnl::algorithm::eltwise_logistic_use_dst_for_bwd;
    case Activation::tanh:
      return dnnl::algorithm::eltwise_tanh_use_dst_for_bwd;
    case Activation::gelu_erf:
    case Activation::gelu_tanh:
    case Activation::none:
      break;
  }
  return algorithm_of(activation);
}

/// dy and y or z in, dz out, all as `own` says.
Recipe slope_recipe(const dnnl::engine& engine, const Problem& problem, const memory::desc& own) {
  const dnnl::algorithm algorithm = slope_algorithm(problem.activation);
  const dnnl::primitive_attr attr = attributes(problem);
  const dnnl::eltwise_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, algorithm, own, 0.0F, 0.0F}, attr, engine);
  const dnnl::eltwise_backward::primitive_desc made({algorithm, own, own, 0.0F, 0.0F}, attr, engine,
                                                    forward);
  const Fc& fc = std::get<Fc>(problem.shape);
  const memory::desc plain = f32({fc.n, fc.k}, Tag::ab);
  const bool by_result = slope_follows_from_result(problem.activation);
  Recipe recipe =
      recipe_of<dnnl::eltwise_backward>(engine, made,
                                        {input_port("dy", DNNL_ARG_DIFF_DST, plain, own),
                                         by_result ? input_port("y", DNNL_ARG_DST, plain, own)
                                                   : input_port("z", DNNL_ARG_SRC, plain, own)});
  recipe.extras = {{.argument = DNNL_ARG_DIFF_SRC, .desc = own}};
  return recipe;
}

memory::desc gradient_desc(const Recipe& layer) {
  return std::ranges::find(layer.ports, DNNL_ARG_DIFF_DST, &Port::argument)->seen;
}

}  // namespace

Runnable onednn_fc_behind_activation(const Recipe& layer, const Problem& problem,
                                     const Conditions& conditions) {
  const Recipe before = slope_recipe(layer.engine, problem, gradient_desc(layer));
  Runnable runnable;
  runnable.implementation = layer.implementation;
  runnable.included = "derivative of the activation by " + before.implementation;
  runnable.workspace_bytes = static_cast<std::int64_t>(
      before.scratchpad.get_size() + layer.scratchpad.get_size() + gradient_desc(layer).get_size());
  const auto slopes = std::make_shared<const Execution>(before, problem, conditions);
  const Arguments dz{{DNNL_ARG_DIFF_DST, slopes->arguments().at(DNNL_ARG_DIFF_SRC)}};
  const auto product = std::make_shared<const Execution>(layer, problem, conditions, dz);
  runnable.load = [slopes, product](const Arrays& arrays) {
    slopes->load(arrays);
    product->load(arrays);
  };
  runnable.run = [slopes, product] {
    slopes->run();
    product->run();
  };
  runnable.unload = [product](const Arrays& arrays) { product->unload(arrays); };
  return runnable;
}

}  // namespace loopbrick
