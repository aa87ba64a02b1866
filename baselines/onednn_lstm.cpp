#include "baselines/onednn_lstm.h"

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "baselines/onednn_execution.h"

namespace loopbrick {
namespace {

using Forward = dnnl::lstm_forward;
using Backward = dnnl::lstm_backward;

/// The tensors of a layer, or their gradients, which have the same shapes.
struct Tensors {
  Tensors(const Lstm& l, Tag weights)
      : x(f32({l.t, l.n, l.c}, Tag::tnc)),
        h(f32({l.t, l.n, l.k}, Tag::tnc)),
        state(f32({1, 1, l.n, l.k}, Tag::ldnc)),
        w(f32({1, 1, l.c, 4, l.k}, weights)),
        r(f32({1, 1, l.k, 4, l.k}, weights)),
        b(f32({1, 1, 4, l.k}, Tag::ldgo)) {}

  memory::desc x, h, state, w, r, b;
};

constexpr auto kDirection = dnnl::rnn_direction::unidirectional_left2right;

Port with_gates(Port port) {
  port.has_gates = true;
  return port;
}

Forward::primitive_desc forward_desc(const dnnl::engine& engine, const Problem& problem,
                                     const Lstm& lstm) {
  const Tensors t(lstm, Tag::any);
  const auto kind = problem.pass == Pass::fwd ? dnnl::prop_kind::forward_inference
                                              : dnnl::prop_kind::forward_training;
  return {{kind, kDirection, t.x, t.state, t.state, t.w, t.r, t.b, t.h, t.state, t.state},
          attributes(problem),
          engine};
}

/// The ports of what every pass is given.
std::vector<Port> inputs(const Forward::primitive_desc& made, const Tensors& plain) {
  return {input_port("x", DNNL_ARG_SRC_LAYER, plain.x, made.src_layer_desc()),
          input_port("h0", DNNL_ARG_SRC_ITER, plain.state, made.src_iter_desc()),
          input_port("c0", DNNL_ARG_SRC_ITER_C, plain.state, made.src_iter_c_desc()),
          with_gates(input_port("w", DNNL_ARG_WEIGHTS_LAYER, plain.w, made.weights_layer_desc())),
          with_gates(input_port("r", DNNL_ARG_WEIGHTS_ITER, plain.r, made.weights_iter_desc())),
          with_gates(input_port("b", DNNL_ARG_BIAS, plain.b, made.bias_desc()))};
}

/// Where the last cell state lies in c[t][n][k].
memory::desc last_state(const Lstm& l) {
  return f32({l.t, 1, l.n, l.k}, Tag::ldnc).submemory_desc({1, 1, l.n, l.k}, {l.t - 1, 0, 0, 0});
}

/// `lstm` is the problem's shape, or one step of it.
Recipe forward_recipe(const dnnl::engine& engine, const Problem& problem, const Lstm& lstm) {
  const Forward::primitive_desc made = forward_desc(engine, problem, lstm);
  const Tensors plain(lstm, Tag::ldgoi);
  Recipe recipe = recipe_of<Forward>(engine, made, inputs(made, plain));
  recipe.extras = {{DNNL_ARG_DST_ITER, made.dst_iter_desc()},
                   {DNNL_ARG_WORKSPACE, made.workspace_desc()}};
  if (problem.pass == Pass::bwd) {
    recipe.extras.push_back({DNNL_ARG_DST_LAYER, made.dst_layer_desc()});
    recipe.extras.push_back({DNNL_ARG_DST_ITER_C, made.dst_iter_c_desc()});
    return recipe;
  }
  recipe.ports.push_back(output_port("h", DNNL_ARG_DST_LAYER, plain.h, made.dst_layer_desc()));
  recipe.ports.push_back(
      output_port("c", DNNL_ARG_DST_ITER_C, last_state(lstm), made.dst_iter_c_desc()));
  return recipe;
}

Recipe backward_recipe(const dnnl::engine& engine, const Problem& problem, const Lstm& lstm) {
  const Tensors t(lstm, Tag::any);
  const Tensors plain(lstm, Tag::ldgoi);
  const Backward::primitive_desc made({dnnl::prop_kind::backward,
                                       kDirection,
                                       t.x,
                                       t.state,
                                       t.state,
                                       t.w,
                                       t.r,
                                       t.b,
                                       t.h,
                                       t.state,
                                       t.state,
                                       t.x,
                                       t.state,
                                       t.state,
                                       t.w,
                                       t.r,
                                       t.b,
                                       t.h,
                                       t.state,
                                       t.state},
                                      attributes(problem), engine,
                                      forward_desc(engine, problem, lstm));
  Recipe recipe = recipe_of<Backward>(
      engine, made,
      {with_gates(input_port("w", DNNL_ARG_WEIGHTS_LAYER, plain.w, made.weights_layer_desc())),
       with_gates(input_port("r", DNNL_ARG_WEIGHTS_ITER, plain.r, made.weights_iter_desc())),
       input_port("dh", DNNL_ARG_DIFF_DST_LAYER, plain.h, made.diff_dst_layer_desc()),
       input_port("dc", DNNL_ARG_DIFF_DST_ITER_C, plain.state, made.diff_dst_iter_c_desc()),
       output_port("dx", DNNL_ARG_DIFF_SRC_LAYER, plain.x, made.diff_src_layer_desc()),
       output_port("dh0", DNNL_ARG_DIFF_SRC_ITER, plain.state, made.diff_src_iter_desc()),
       output_port("dc0", DNNL_ARG_DIFF_SRC_ITER_C, plain.state, made.diff_src_iter_c_desc()),
       with_gates(
           output_port("dw", DNNL_ARG_DIFF_WEIGHTS_LAYER, plain.w, made.diff_weights_layer_desc())),
       with_gates(
           output_port("dr", DNNL_ARG_DIFF_WEIGHTS_ITER, plain.r, made.diff_weights_iter_desc())),
       with_gates(output_port("db", DNNL_ARG_DIFF_BIAS, plain.b, made.diff_bias_desc()))});
  recipe.extras = {{DNNL_ARG_DIFF_DST_ITER, made.diff_dst_iter_desc()}};
  recipe.zeroed = {DNNL_ARG_DIFF_WEIGHTS_LAYER, DNNL_ARG_DIFF_WEIGHTS_ITER, DNNL_ARG_DIFF_BIAS};
  return recipe;
}

/// What oneDNN calls "ref" for an LSTM is no reference: it is packed GEMMs of its own with
/// generated code for the element-wise part, and all that it has for training.
std::string implementation_name(const std::string& name) {
  return name.starts_with("ref") ? "gemm:" + name : name;
}

Runnable described(const Recipe& recipe) {
  Runnable runnable;
  runnable.implementation = implementation_name(recipe.implementation);
  runnable.workspace_bytes = static_cast<std::int64_t>(recipe.scratchpad.get_size());
  return runnable;
}

// ---- forward

Lstm one_step(Lstm lstm) {
  lstm.t = 1;
  return lstm;
}

/// Makes the cell states that oneDNN keeps to itself.
class EarlierStates {
 public:
  EarlierStates(const dnnl::engine& engine, const Problem& problem, const Conditions& conditions)
      : lstm_(std::get<Lstm>(problem.shape)),
        step_(forward_recipe(engine, problem, one_step(lstm_)), problem, conditions),
        states_(static_cast<std::size_t>(lstm_.n * lstm_.k)) {}

  /// Keeps what the first step starts from; arrays as operands() lists them.
  void load(const Arrays& arrays) {
    step_.load({first(arrays[0], lstm_.n * lstm_.c),
                arrays[1],
                arrays[2],
                arrays[3],
                arrays[4],
                arrays[5],
                {},
                {}});
    for (std::size_t i = 0; i < start_.size(); ++i)
      start_[i].assign(arrays[i].begin(), arrays[i].end());
  }

  /// Overwrites all of `c` but the last state, given all of `h`.
  void make(std::span<const float> h, std::span<float> c) {
    const std::size_t size = states_.size();
    const auto inputs = static_cast<std::size_t>(lstm_.n * lstm_.c);
    std::span<float> last_h = start_[1];
    std::span<float> last_c = start_[2];
    std::vector<float> hidden(h.begin(), h.end());
    for (std::size_t t = 0; t + 1 < static_cast<std::size_t>(lstm_.t); ++t) {
      step_.load(
          {std::span(start_[0]).subspan(t * inputs, inputs), last_h, last_c, {}, {}, {}, {}, {}});
      step_.run();
      step_.unload({{}, {}, {}, {}, {}, {}, states_, c.subspan(t * size, size)});
      last_h = std::span(hidden).subspan(t * size, size);
      last_c = c.subspan(t * size, size);
    }
  }

 private:
  static std::span<float> first(std::span<float> all, std::int64_t count) {
    return all.first(static_cast<std::size_t>(count));
  }

  Lstm lstm_;
  Execution step_;
  std::vector<float> states_;                ///< the hidden states of one step, not wanted
  std::array<std::vector<float>, 3> start_;  ///< x, h0, c0
};

Runnable forward(const dnnl::engine& engine, const Problem& problem, const Conditions& conditions) {
  const Recipe recipe = forward_recipe(engine, problem, std::get<Lstm>(problem.shape));
  Runnable runnable = described(recipe);
  const auto layer = std::make_shared<const Execution>(recipe, problem, conditions);
  const auto states = std::make_shared<EarlierStates>(engine, problem, conditions);
  runnable.load = [layer, states](const Arrays& arrays) {
    layer->load(arrays);
    states->load(arrays);
  };
  runnable.run = [layer] { layer->run(); };
  runnable.unload = [layer, states](const Arrays& arrays) {
    layer->unload(arrays);
    states->make(arrays[6], arrays[7]);
  };
  return runnable;
}

// ---- backward

/// What the backward pass reads of the forward pass's memory.
Arguments left_by_forward(const Execution& forward) {
  Arguments left;
  for (const int argument :
       {DNNL_ARG_SRC_LAYER, DNNL_ARG_SRC_ITER, DNNL_ARG_SRC_ITER_C, DNNL_ARG_BIAS,
        DNNL_ARG_DST_LAYER, DNNL_ARG_DST_ITER, DNNL_ARG_DST_ITER_C, DNNL_ARG_WORKSPACE}) {
    left.emplace(argument, forward.arguments().at(argument));
  }
  return left;
}

Runnable backward(const dnnl::engine& engine, const Problem& problem,
                  const Conditions& conditions) {
  const Lstm& lstm = std::get<Lstm>(problem.shape);
  const Recipe recipe = backward_recipe(engine, problem, lstm);
  Runnable runnable = described(recipe);
  runnable.included = "zeroing of the weight gradients";
  const auto before =
      std::make_shared<const Execution>(forward_recipe(engine, problem, lstm), problem, conditions);
  const auto layer =
      std::make_shared<const Execution>(recipe, problem, conditions, left_by_forward(*before));
  runnable.load = [before, layer](const Arrays& arrays) {
    before->load(arrays);
    before->run();
    layer->load(arrays);
  };
  runnable.run = [layer] { layer->run(); };
  runnable.unload = [layer](const Arrays& arrays) { layer->unload(arrays); };
  return runnable;
}

}  // namespace

Runnable onednn_lstm(const dnnl::engine& engine, const Problem& problem,
                     const Conditions& conditions) {
  if (problem.pass == Pass::bwd) return backward(engine, problem, conditions);
  return forward(engine, problem, conditions);
}

}  // namespace loopbrick
