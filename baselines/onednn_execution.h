#pragma once
#include <oneapi/dnnl/dnnl.hpp>

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "baselines/buffer.h"
#include "problems/conditions.h"
#include "problems/operands.h"

namespace loopbrick {

using dnnl::memory;
using Tag = memory::format_tag;

memory::desc f32(const memory::dims& extents, Tag tag);
memory::desc strided(const memory::dims& extents, const memory::dims& strides);

/// One operand of a primitive: `plain` says how the problem gives it, `stored` how the primitive's
/// memory is filled, `seen` how the primitive reads that memory (the same but for a gemm's batch).
struct Port {
  std::string_view operand;
  int argument = 0;
  memory::desc plain, stored, seen;
  bool output = false;
  bool has_gates = false;  ///< the first quarter is the gate i, then c and f, which oneDNN swaps
};

/// A port whose memory is filled as the primitive reads it.
Port input_port(std::string_view operand, int argument, const memory::desc& plain,
                const memory::desc& own);
Port output_port(std::string_view operand, int argument, const memory::desc& plain,
                 const memory::desc& own);

/// Memory of a primitive that is no operand of the problem: zeros unless somebody writes it.
struct Extra {
  int argument = 0;
  memory::desc desc;
};

/// A primitive before its memory exists. The engine must outlive all that is made with it.
struct Recipe {
  dnnl::engine engine;
  dnnl::primitive primitive;
  std::string implementation;
  memory::desc scratchpad;
  std::vector<Port> ports;
  std::vector<Extra> extras;
  std::vector<int> zeroed;  ///< arguments that the primitive adds to: each run sets them to 0 first
};

template <typename Primitive>
Recipe recipe_of(const dnnl::engine& engine, const typename Primitive::primitive_desc& made,
                 std::vector<Port> ports) {
  return {engine, Primitive(made), made.impl_info_str(), made.scratchpad_desc(), std::move(ports)};
}

/// oneDNN's name of an activation but none.
dnnl::algorithm algorithm_of(Activation activation);

/// A scratchpad of ours and, of a forward pass, the activation of the problem.
dnnl::primitive_attr attributes(const Problem& problem);

/// No bias is an empty descriptor.
memory::desc bias_desc(const Problem& problem, memory::dim features);

/// The ports of a layer's forward pass, whose operands are given as `x`, `w` and `y`.
template <typename Made>
std::vector<Port> forward_ports(const Problem& problem, const Made& made, const memory::desc& x,
                                const memory::desc& w, const memory::desc& y) {
  std::vector<Port> ports{input_port("x", DNNL_ARG_SRC, x, made.src_desc()),
                          input_port("w", DNNL_ARG_WEIGHTS, w, made.weights_desc())};
  if (problem.bias) {
    ports.push_back(input_port("b", DNNL_ARG_BIAS, made.bias_desc(), made.bias_desc()));
  }
  ports.push_back(output_port("y", DNNL_ARG_DST, y, made.dst_desc()));
  return ports;
}

/// What a primitive is given and gives, by argument.
using Arguments = std::unordered_map<int, memory>;

/// A primitive with memory of its own; arguments that `shared` has are taken from there, and their
/// owner must live as long.
///
/// Threads  runs with conditions.threads OpenMP threads.
class Execution {
 public:
  Execution(Recipe recipe, const Problem& problem, const Conditions& conditions,
            const Arguments& shared = {});

  /// Arrays as operands() lists them; where one is empty, what was loaded before stays.
  void load(const Arrays& arrays) const;
  void run() const;
  void unload(const Arrays& arrays) const;

  const Arguments& arguments() const { return arguments_; }

 private:
  void add(int argument, const memory::desc& desc, Pages pages);
  void load_port(const Port& port, std::span<float> array) const;
  void unload_port(const Port& port, std::span<float> array) const;
  memory stored(const Port& port) const;
  void reorder(memory from, memory to) const;

  Recipe recipe_;
  Problem problem_;
  int threads_;
  dnnl::stream stream_{recipe_.engine};
  std::vector<Buffer> buffers_;
  Arguments arguments_;
};

}  // namespace loopbrick
