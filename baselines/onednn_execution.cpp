#include "baselines/onednn_execution.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "baselines/applicable.h"
#include "baselines/thread_count.h"

namespace loopbrick {
namespace {

Buffer buffer_for(const memory::desc& desc, Pages pages) {
  constexpr std::size_t kFloat = sizeof(float);
  return {static_cast<std::int64_t>((desc.get_size() + kFloat - 1) / kFloat), pages};
}

/// Exchanges the second and third of four gates: i, c, f, o becomes oneDNN's i, f, c, o and back.
void swap_gates(std::span<float> values) {
  const auto gate = static_cast<std::ptrdiff_t>(values.size() / 4);
  std::swap_ranges(values.begin() + gate, values.begin() + 2 * gate, values.begin() + 2 * gate);
}

}  // namespace

memory::desc f32(const memory::dims& extents, Tag tag) {
  return {extents, memory::data_type::f32, tag};
}

memory::desc strided(const memory::dims& extents, const memory::dims& strides) {
  return {extents, memory::data_type::f32, strides};
}

Port input_port(std::string_view operand, int argument, const memory::desc& plain,
                const memory::desc& own) {
  return {.operand = operand, .argument = argument, .plain = plain, .stored = own, .seen = own};
}

Port output_port(std::string_view operand, int argument, const memory::desc& plain,
                 const memory::desc& own) {
  Port port = input_port(operand, argument, plain, own);
  port.output = true;
  return port;
}

dnnl::algorithm algorithm_of(Activation activation) {
  switch (activation) {
    case Activation::sigmoid:
      return dnnl::algorithm::eltwise_logistic;
    case Activation::tanh:
      return dnnl::algorithm::eltwise_tanh;
    case Activation::gelu_erf:
      return dnnl::algorithm::eltwise_gelu_erf;
    case Activation::gelu_tanh:
      return dnnl::algorithm::eltwise_gelu_tanh;
    case Activation::none:
    case Activation::relu:
      break;
  }
  return dnnl::algorithm::eltwise_relu;
}

dnnl::primitive_attr attributes(const Problem& problem) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (problem.pass == Pass::fwd && problem.activation != Activation::none) {
    dnnl::post_ops post;
    post.append_eltwise(1.0F, algorithm_of(problem.activation), 0.0F, 0.0F);
    attributes.set_post_ops(post);
  }
  return attributes;
}

memory::desc bias_desc(const Problem& problem, memory::dim features) {
  return problem.bias ? f32({features}, Tag::x) : memory::desc();
}

Execution::Execution(Recipe recipe, const Problem& problem, const Conditions& conditions,
                     const Arguments& shared)
    : recipe_(std::move(recipe)),
      problem_(problem),
      threads_(conditions.threads),
      arguments_(shared) {
  for (const Port& port : recipe_.ports) add(port.argument, port.seen, conditions.pages);
  for (const Extra& extra : recipe_.extras) add(extra.argument, extra.desc, conditions.pages);
  arguments_.erase(DNNL_ARG_SCRATCHPAD);
  add(DNNL_ARG_SCRATCHPAD, recipe_.scratchpad, conditions.pages);
}

void Execution::load(const Arrays& arrays) const {
  for (const Port& port : recipe_.ports) {
    if (!port.output) load_port(port, array_named(port.operand, problem_, arrays));
  }
}

void Execution::run() const {
  const ThreadCount scope(threads_);
  for (const int argument : recipe_.zeroed) {
    const memory& adds = arguments_.at(argument);
    std::memset(adds.get_data_handle(), 0, adds.get_desc().get_size());
  }
  dnnl::stream stream = stream_;
  recipe_.primitive.execute(stream, arguments_);
  stream.wait();
}

void Execution::unload(const Arrays& arrays) const {
  for (const Port& port : recipe_.ports) {
    if (port.output) unload_port(port, array_named(port.operand, problem_, arrays));
  }
}

void Execution::add(int argument, const memory::desc& desc, Pages pages) {
  if (arguments_.contains(argument)) return;
  buffers_.push_back(buffer_for(desc, pages));
  arguments_.emplace(argument, memory(desc, recipe_.engine, buffers_.back().data()));
}

void Execution::load_port(const Port& port, std::span<float> array) const {
  if (array.empty()) return;
  std::vector<float> swapped;
  if (port.has_gates) {
    swapped.assign(array.begin(), array.end());
    swap_gates(swapped);
    array = swapped;
  }
  reorder({port.plain, recipe_.engine, array.data()}, stored(port));
}

void Execution::unload_port(const Port& port, std::span<float> array) const {
  reorder(stored(port), {port.plain, recipe_.engine, array.data()});
  if (port.has_gates) swap_gates(array);
}

memory Execution::stored(const Port& port) const {
  return {port.stored, recipe_.engine, arguments_.at(port.argument).get_data_handle()};
}

void Execution::reorder(memory from, memory to) const {
  const ThreadCount scope(threads_);
  dnnl::stream stream = stream_;
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
}

}  // namespace loopbrick
