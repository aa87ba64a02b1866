// Everything that touches oneDNN's API (2.6) stands in this file.
#include <oneapi/dnnl/dnnl.hpp>

#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "baselines/applicable.h"
#include "baselines/buffer.h"
#include "baselines/doubt.h"
#include "baselines/rows.h"
#include "baselines/thread_count.h"

namespace loopbrick {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

std::string version() {
  const dnnl::version_t* v = dnnl::version();
  return std::to_string(v->major) + '.' + std::to_string(v->minor) + '.' + std::to_string(v->patch);
}

memory::desc f32(const memory::dims& extents, Tag tag) {
  return {extents, memory::data_type::f32, tag};
}

memory::desc strided(const memory::dims& extents, const memory::dims& strides) {
  return {extents, memory::data_type::f32, strides};
}

/// One operand of a primitive: `plain` says how the problem gives it, `stored` how the primitive's
/// memory is filled, `seen` how the primitive reads that memory (the same but for a gemm's batch).
struct Port {
  std::string_view operand;
  int argument = 0;
  memory::desc plain, stored, seen;
};

/// A primitive before its memory exists; the output is the last port. The engine must outlive all
/// that is made with it.
struct Recipe {
  dnnl::engine engine;
  dnnl::primitive primitive;
  std::string implementation;
  memory::desc scratchpad;
  std::vector<Port> ports;
};

Port own_port(std::string_view operand, int argument, const memory::desc& plain,
              const memory::desc& own) {
  return {operand, argument, plain, own, own};
}

template <typename Primitive>
Recipe recipe_of(const dnnl::engine& engine, const typename Primitive::primitive_desc& made,
                 std::vector<Port> ports) {
  return {engine, Primitive(made), made.impl_info_str(), made.scratchpad_desc(), std::move(ports)};
}

Buffer buffer_for(const memory::desc& desc, Pages pages) {
  constexpr std::size_t kFloat = sizeof(float);
  return {static_cast<std::int64_t>((desc.get_size() + kFloat - 1) / kFloat), pages};
}

/// A primitive with memory of its own.
class Execution {
 public:
  Execution(Recipe recipe, const Problem& problem, const Conditions& conditions)
      : recipe_(std::move(recipe)), problem_(problem), threads_(conditions.threads) {
    for (const Port& port : recipe_.ports) add(port.argument, port.seen, conditions.pages);
    add(DNNL_ARG_SCRATCHPAD, recipe_.scratchpad, conditions.pages);
  }

  void load(const Arrays& arrays) const {
    for (std::size_t i = 0; i + 1 < recipe_.ports.size(); ++i) {
      const Port& port = recipe_.ports[i];
      reorder(plain(port, arrays), stored(port));
    }
  }

  void run() const {
    const ThreadCount scope(threads_);
    dnnl::stream stream = stream_;
    recipe_.primitive.execute(stream, arguments_);
    stream.wait();
  }

  void unload(const Arrays& arrays) const {
    const Port& port = recipe_.ports.back();
    reorder(stored(port), plain(port, arrays));
  }

 private:
  void add(int argument, const memory::desc& desc, Pages pages) {
    buffers_.push_back(buffer_for(desc, pages));
    arguments_.emplace(argument, memory(desc, recipe_.engine, buffers_.back().data()));
  }

  memory plain(const Port& port, const Arrays& arrays) const {
    return {port.plain, recipe_.engine, array_named(port.operand, problem_, arrays).data()};
  }

  memory stored(const Port& port) const {
    return {port.stored, recipe_.engine, arguments_.at(port.argument).get_data_handle()};
  }

  void reorder(memory from, memory to) const {
    const ThreadCount scope(threads_);
    dnnl::stream stream = stream_;
    dnnl::reorder(from, to).execute(stream, from, to);
    stream.wait();
  }

  Recipe recipe_;
  Problem problem_;
  int threads_;
  dnnl::stream stream_{recipe_.engine};
  std::vector<Buffer> buffers_;
  std::unordered_map<int, memory> arguments_;
};

dnnl::primitive_attr attributes(const Problem& problem) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (problem.activation == Activation::relu) {
    dnnl::post_ops post;
    post.append_eltwise(1.0F, dnnl::algorithm::eltwise_relu, 0.0F, 0.0F);
    attributes.set_post_ops(post);
  }
  return attributes;
}

memory::desc bias_desc(const Problem& problem, memory::dim features) {
  return problem.bias ? f32({features}, Tag::x) : memory::desc();
}

/// The ports of a layer's forward pass, whose operands are given as `x`, `w` and `y`.
template <typename Made>
std::vector<Port> forward_ports(const Problem& problem, const Made& made, const memory::desc& x,
                                const memory::desc& w, const memory::desc& y) {
  std::vector<Port> ports{own_port("x", DNNL_ARG_SRC, x, made.src_desc()),
                          own_port("w", DNNL_ARG_WEIGHTS, w, made.weights_desc())};
  if (problem.bias) {
    ports.push_back(own_port("b", DNNL_ARG_BIAS, made.bias_desc(), made.bias_desc()));
  }
  ports.push_back(own_port("y", DNNL_ARG_DST, y, made.dst_desc()));
  return ports;
}

// ---- conv

/// Padding after the last pixel that the filter reaches; negative where it does not reach them all.
memory::dim far_padding(memory::dim outputs, memory::dim stride, memory::dim taps,
                        memory::dim dilation, memory::dim inputs, memory::dim padding) {
  return (outputs - 1) * stride + (taps - 1) * dilation + 1 - inputs - padding;
}

memory::dims weight_extents(const Conv& c) {
  if (c.groups == 1) return {c.k, c.c, c.r, c.s};
  return {c.groups, c.k / c.groups, c.c / c.groups, c.r, c.s};
}

/// forward_training: with forward_inference, `any` means channels-last to this oneDNN wherever that
/// has a kernel, and its blocked kernels, which win some layers, would be in neither row. Nothing
/// else differs.
dnnl::convolution_forward::desc conv_description(const Problem& problem, Tag activations) {
  const Conv& c = std::get<Conv>(problem.shape);
  return {dnnl::prop_kind::forward_training,
          dnnl::algorithm::convolution_direct,
          f32({c.n, c.c, c.h, c.w}, activations),
          f32(weight_extents(c), Tag::any),
          bias_desc(problem, c.k),
          f32({c.n, c.k, c.p, c.q}, activations),
          {c.stride_h, c.stride_w},
          {c.dilation_h - 1, c.dilation_w - 1},
          {c.pad_h, c.pad_w},
          {far_padding(c.p, c.stride_h, c.r, c.dilation_h, c.h, c.pad_h),
           far_padding(c.q, c.stride_w, c.s, c.dilation_w, c.w, c.pad_w)}};
}

Recipe conv_recipe(const dnnl::engine& engine, const Problem& problem, Tag activations) {
  const Conv& c = std::get<Conv>(problem.shape);
  const dnnl::convolution_forward::primitive_desc made(conv_description(problem, activations),
                                                       attributes(problem), engine);
  const memory::desc w = f32(weight_extents(c), c.groups == 1 ? Tag::oihw : Tag::goihw);
  return recipe_of<dnnl::convolution_forward>(
      engine, made,
      forward_ports(problem, made, f32({c.n, c.c, c.h, c.w}, Tag::nchw), w,
                    f32({c.n, c.k, c.p, c.q}, Tag::nchw)));
}

// ---- fc

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

Recipe fc_backward_data(const dnnl::engine& engine, const Problem& problem, const FcMatrices& m,
                        const FcMatrices& plain) {
  const FcBackwardData::primitive_desc made({m.x, m.w, m.y}, attributes(problem), engine,
                                            fc_forward(engine, problem, m));
  return recipe_of<FcBackwardData>(
      engine, made,
      {own_port("dy", DNNL_ARG_DIFF_DST, plain.y, made.diff_dst_desc()),
       own_port("w", DNNL_ARG_WEIGHTS, plain.w, made.weights_desc()),
       own_port("dx", DNNL_ARG_DIFF_SRC, plain.x, made.diff_src_desc())});
}

Recipe fc_backward_weights(const dnnl::engine& engine, const Problem& problem, const FcMatrices& m,
                           const FcMatrices& plain) {
  const FcBackwardWeights::primitive_desc made({m.x, m.w, m.y}, attributes(problem), engine,
                                               fc_forward(engine, problem, m));
  return recipe_of<FcBackwardWeights>(
      engine, made,
      {own_port("x", DNNL_ARG_SRC, plain.x, made.src_desc()),
       own_port("dy", DNNL_ARG_DIFF_DST, plain.y, made.diff_dst_desc()),
       own_port("dw", DNNL_ARG_DIFF_WEIGHTS, plain.w, made.diff_weights_desc())});
}

/// In the layouts that oneDNN picks if that is how the activations are to lie, else row-major.
Recipe fc_recipe(const dnnl::engine& engine, const Problem& problem, Tag activations) {
  const Fc& fc = std::get<Fc>(problem.shape);
  const FcMatrices plain(fc, Tag::ab);
  const FcMatrices wanted(fc, activations == Tag::any ? Tag::any : Tag::ab);
  if (problem.pass == Pass::bwd_d) return fc_backward_data(engine, problem, wanted, plain);
  if (problem.pass == Pass::bwd_w) return fc_backward_weights(engine, problem, wanted, plain);
  const FcForward::primitive_desc made = fc_forward(engine, problem, wanted);
  return recipe_of<FcForward>(engine, made,
                              forward_ports(problem, made, plain.x, plain.w, plain.y));
}

// ---- gemm: a batch is one product whose depth is the batch's, the entries of A side by side

Recipe gemm_recipe(const dnnl::engine& engine, const Problem& problem) {
  const Gemm& g = std::get<Gemm>(problem.shape);
  const memory::dim depth = g.batch * g.k;
  const memory::dim lda = g.batch == 1 ? g.lda : depth;
  const memory::desc a = strided({g.m, depth}, {lda, 1});
  const memory::desc b = strided({depth, g.n}, {g.ldb, 1});
  const memory::desc c = strided({g.m, g.n}, {g.ldc, 1});
  const dnnl::matmul::primitive_desc made({a, b, c}, attributes(problem), engine);
  return {engine,
          dnnl::matmul(made),
          made.impl_info_str(),
          made.scratchpad_desc(),
          {Port{"a", DNNL_ARG_SRC, strided({g.m, g.batch, g.k}, {g.k, g.m * g.k, 1}),
                strided({g.m, g.batch, g.k}, {lda, g.k, 1}), a},
           Port{"b", DNNL_ARG_WEIGHTS, f32({depth, g.n}, Tag::ab), b, b},
           Port{"c", DNNL_ARG_DST, f32({g.m, g.n}, Tag::ab), c, c}}};
}

// ---- the rows

Recipe recipe_for(const dnnl::engine& engine, const Problem& problem, Tag activations) {
  if (std::holds_alternative<Gemm>(problem.shape)) return gemm_recipe(engine, problem);
  if (std::holds_alternative<Fc>(problem.shape)) return fc_recipe(engine, problem, activations);
  return conv_recipe(engine, problem, activations);
}

/// oneDNN settles its ISA for the whole process at its first primitive: later calls change nothing,
/// and Runnable::flag tells.
void cap_isa(Isa wanted) {
  if (wanted >= best_isa()) return;
  dnnl::set_max_cpu_isa(wanted == Isa::avx2 ? dnnl::cpu_isa::avx2 : dnnl::cpu_isa::sse41);
}

std::optional<Refusal> why_not(const Problem& problem, std::string_view choice) {
  if (const auto reason = why_no_baseline(problem, choice)) return reason;
  const Gemm* gemm = std::get_if<Gemm>(&problem.shape);
  if (gemm && gemm->batch * gemm->k == 0) return Refusal{"oneDNN has no empty sum"};
  return std::nullopt;
}

Runnable make_runnable(Recipe recipe, const Problem& problem, const Conditions& conditions) {
  Runnable runnable;
  runnable.implementation = recipe.implementation;
  runnable.flag = doubt(recipe.implementation, wanted_isa(conditions));
  runnable.workspace_bytes = static_cast<std::int64_t>(recipe.scratchpad.get_size());
  const auto state = std::make_shared<const Execution>(std::move(recipe), problem, conditions);
  runnable.load = [state](const Arrays& arrays) { state->load(arrays); };
  runnable.run = [state] { state->run(); };
  runnable.unload = [state](const Arrays& arrays) { state->unload(arrays); };
  return runnable;
}

std::variant<Runnable, Refusal> prepare_with(Tag activations, const Problem& problem,
                                             std::string_view choice,
                                             const Conditions& conditions) {
  if (const auto reason = why_not(problem, choice)) return *reason;
  cap_isa(wanted_isa(conditions));
  const ThreadCount scope(conditions.threads);
  try {
    const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    return make_runnable(recipe_for(engine, problem, activations), problem, conditions);
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw std::bad_alloc();
    if (error.status == dnnl_unimplemented) return Refusal{"oneDNN does not implement this"};
    if (error.status == dnnl_invalid_arguments) return Refusal{"oneDNN takes this for invalid"};
    throw std::runtime_error(std::string("oneDNN: ") + error.what());
  }
}

std::variant<Runnable, Refusal> prepare_any(const Problem& problem, std::string_view choice,
                                            const Conditions& conditions) {
  return prepare_with(Tag::any, problem, choice, conditions);
}

std::variant<Runnable, Refusal> prepare_nhwc(const Problem& problem, std::string_view choice,
                                             const Conditions& conditions) {
  if (std::holds_alternative<Gemm>(problem.shape)) {
    return Refusal{"a gemm has no channels: the row is onednn"};
  }
  return prepare_with(Tag::nhwc, problem, choice, conditions);
}

}  // namespace

Implementation onednn_row() {
  return {.name = "onednn",
          .sentence =
              "oneDNN's direct convolution, inner product or matmul in the layouts that it picks",
          .version = version,
          .prepare = prepare_any};
}

Implementation onednn_nhwc_row() {
  return {.name = "onednn-nhwc",
          .sentence =
              "oneDNN's direct convolution with activations channels-last, or inner product with "
              "all operands row-major",
          .version = version,
          .prepare = prepare_nhwc};
}

}  // namespace loopbrick
