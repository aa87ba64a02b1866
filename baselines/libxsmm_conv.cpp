#include "baselines/libxsmm_conv.h"

#include <algorithm>
#include <libxsmm.h>
#include <limits>
#include <memory>
#include <omp.h>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "baselines/applicable.h"
#include "baselines/buffer.h"
#include "baselines/libxsmm_status.h"
#include "baselines/rimmed_input.h"
#include "baselines/thread_count.h"
#include "kernels/text.h"

namespace loopbrick {
namespace {

constexpr std::int64_t kMostInt = std::numeric_limits<int>::max();

libxsmm_dnn_conv_desc description(const Conv& c, LibxsmmRim rim, int threads) {
  libxsmm_dnn_conv_desc desc{};
  desc.N = static_cast<int>(c.n);
  desc.C = static_cast<int>(c.c);
  desc.H = static_cast<int>(c.h);
  desc.W = static_cast<int>(c.w);
  desc.K = static_cast<int>(c.k);
  desc.R = static_cast<int>(c.r);
  desc.S = static_cast<int>(c.s);
  desc.u = static_cast<int>(c.stride_h);
  desc.v = static_cast<int>(c.stride_w);
  desc.pad_h = static_cast<int>(c.pad_h);
  desc.pad_w = static_cast<int>(c.pad_w);
  desc.pad_h_in = rim == LibxsmmRim::stored ? desc.pad_h : 0;
  desc.pad_w_in = rim == LibxsmmRim::stored ? desc.pad_w : 0;
  desc.threads = threads;
  desc.datatype_in = LIBXSMM_DNN_DATATYPE_F32;
  desc.datatype_out = LIBXSMM_DNN_DATATYPE_F32;
  desc.buffer_format = LIBXSMM_DNN_TENSOR_FORMAT_LIBXSMM;
  desc.filter_format = LIBXSMM_DNN_TENSOR_FORMAT_LIBXSMM;
  desc.algo = LIBXSMM_DNN_CONV_ALGO_DIRECT;
  desc.options = LIBXSMM_DNN_CONV_OPTION_OVERWRITE;
  desc.fuse_ops = LIBXSMM_DNN_CONV_FUSE_NONE;
  return desc;
}

struct DestroyLayer {
  void operator()(libxsmm_dnn_layer* layer) const { libxsmm_dnn_destroy_conv_layer(layer); }
};
using Layer = std::unique_ptr<libxsmm_dnn_layer, DestroyLayer>;

Layer make_layer(const Conv& conv, LibxsmmRim rim, int threads) {
  libxsmm_dnn_err_t status = LIBXSMM_DNN_SUCCESS;
  Layer layer(libxsmm_dnn_create_conv_layer(description(conv, rim, threads), &status));
  if (layer == nullptr) throw LibxsmmRefused{status};
  check_libxsmm(status);
  return layer;
}

/// A tensor of a layer with memory of its own, in the layout that the layer asks for.
class Tensor {
 public:
  Tensor(libxsmm_dnn_layer* layer, libxsmm_dnn_tensor_type type, Pages pages) {
    libxsmm_dnn_err_t status = LIBXSMM_DNN_SUCCESS;
    libxsmm_dnn_tensor_datalayout* const layout =
        libxsmm_dnn_create_tensor_datalayout(layer, type, &status);
    check_libxsmm(status);
    memory_ = Buffer(libxsmm_dnn_get_tensor_elements(layout, &status), pages);
    tensor_.reset(libxsmm_dnn_link_tensor(layout, memory_.data(), &status));
    libxsmm_dnn_destroy_tensor_datalayout(layout);
    check_libxsmm(status);
    check_libxsmm(libxsmm_dnn_bind_tensor(layer, tensor_.get(), type));
  }

  void copy_in(const float* plain, libxsmm_dnn_tensor_format format) const {
    check_libxsmm(libxsmm_dnn_copyin_tensor(tensor_.get(), plain, format));
  }
  void copy_out(float* plain, libxsmm_dnn_tensor_format format) const {
    check_libxsmm(libxsmm_dnn_copyout_tensor(tensor_.get(), plain, format));
  }

 private:
  struct Destroy {
    void operator()(libxsmm_dnn_tensor* tensor) const { libxsmm_dnn_destroy_tensor(tensor); }
  };
  Buffer memory_;
  std::unique_ptr<libxsmm_dnn_tensor, Destroy> tensor_;
};

constexpr auto kActivations = LIBXSMM_DNN_TENSOR_FORMAT_NCHW;
constexpr auto kFilter = LIBXSMM_DNN_TENSOR_FORMAT_KCRS;

libxsmm_dnn_compute_kind kind_of_pass(Pass pass) {
  if (pass == Pass::bwd_d) return LIBXSMM_DNN_COMPUTE_KIND_BWD;
  return pass == Pass::bwd_w ? LIBXSMM_DNN_COMPUTE_KIND_UPD : LIBXSMM_DNN_COMPUTE_KIND_FWD;
}

RimmedInput rimmed_input(const Conv& conv, LibxsmmRim rim) {
  return {.planes = conv.n * conv.c,
          .height = conv.h,
          .width = conv.w,
          .pad_h = rim == LibxsmmRim::stored ? conv.pad_h : 0,
          .pad_w = rim == LibxsmmRim::stored ? conv.pad_w : 0};
}

class LibxsmmConv {
 public:
  LibxsmmConv(const Problem& problem, const Conditions& conditions, LibxsmmRim rim)
      : problem_(problem),
        threads_(conditions.threads),
        layer_(make_layer(std::get<Conv>(problem.shape), rim, conditions.threads)),
        rimmed_(rimmed_input(std::get<Conv>(problem.shape), rim)),
        x_(layer_.get(),
           problem.pass == Pass::bwd_d ? LIBXSMM_DNN_GRADIENT_INPUT : LIBXSMM_DNN_REGULAR_INPUT,
           conditions.pages),
        w_(layer_.get(),
           problem.pass == Pass::bwd_w ? LIBXSMM_DNN_GRADIENT_FILTER : LIBXSMM_DNN_REGULAR_FILTER,
           conditions.pages),
        y_(layer_.get(),
           problem.pass == Pass::fwd ? LIBXSMM_DNN_REGULAR_OUTPUT : LIBXSMM_DNN_GRADIENT_OUTPUT,
           conditions.pages) {
    libxsmm_dnn_err_t status = LIBXSMM_DNN_SUCCESS;
    const std::size_t bytes =
        libxsmm_dnn_get_scratch_size(layer_.get(), LIBXSMM_DNN_COMPUTE_KIND_ALL, &status);
    check_libxsmm(status);
    scratch_ = Buffer(static_cast<std::int64_t>(bytes / sizeof(float) + 1), conditions.pages);
    check_libxsmm(
        libxsmm_dnn_bind_scratch(layer_.get(), LIBXSMM_DNN_COMPUTE_KIND_ALL, scratch_.data()));
  }

  void load(const Arrays& arrays) const {
    for (const Operand& operand : operands(problem_)) {
      if (operand.output) continue;
      const std::span<float> array = array_named(operand.name, problem_, arrays);
      if (operand.name == "x") x_.copy_in(with_rim(rimmed_, array).data(), kActivations);
      if (operand.name == "w") w_.copy_in(array.data(), kFilter);
      if (operand.name == "dy") y_.copy_in(array.data(), kActivations);
    }
  }

  void run() const {
    const ThreadCount scope(threads_);
    const libxsmm_dnn_compute_kind kind = kind_of_pass(problem_.pass);
#pragma omp parallel num_threads(threads_)
    libxsmm_dnn_execute_st(layer_.get(), kind, 0, omp_get_thread_num());
  }

  void unload(std::span<float> plain) const {
    if (problem_.pass == Pass::fwd) return y_.copy_out(plain.data(), kActivations);
    if (problem_.pass == Pass::bwd_w) return w_.copy_out(plain.data(), kFilter);
    std::vector<float> dx(static_cast<std::size_t>(rimmed_.elements()));
    x_.copy_out(dx.data(), kActivations);
    without_rim(rimmed_, dx, plain);
  }

  std::int64_t workspace_bytes() const { return scratch_.size_bytes(); }

 private:
  Problem problem_;
  int threads_;
  Layer layer_;
  RimmedInput rimmed_;
  Tensor x_, w_, y_;
  Buffer scratch_;
};

/// Output pixels with as much padding behind as before.
std::int64_t outputs(std::int64_t inputs, std::int64_t pad, std::int64_t taps,
                     std::int64_t stride) {
  return (inputs + 2 * pad - taps) / stride + 1;
}

/// Elements, x with its padding.
std::int64_t largest_tensor(const Conv& c) {
  const auto product = [](std::int64_t a, std::int64_t b, std::int64_t height, std::int64_t width) {
    return saturating_product(saturating_product(a, b), saturating_product(height, width));
  };
  return std::max({product(c.n, c.c, c.h + 2 * c.pad_h, c.w + 2 * c.pad_w),
                   product(c.k, c.c, c.r, c.s), product(c.n, c.k, c.p, c.q)});
}

std::optional<Refusal> why_not(const Problem& problem, LibxsmmRim rim) {
  const Conv* const conv = &std::get<Conv>(problem.shape);
  if (const std::int64_t most = largest_tensor(*conv); most > kMostInt) {
    return Refusal{"libxsmm counts in an int: {got} elements are beyond {limit}", most, kMostInt};
  }
  if (has_post_ops(problem)) return Refusal{"libxsmm fuses no bias and no activation into a conv"};
  if (conv->groups > 1) return Refusal{"libxsmm has no groups, but {got} are asked", conv->groups};
  if (conv->dilation_h != 1 || conv->dilation_w != 1) return Refusal{"libxsmm has no dilation"};
  if (conv->p != outputs(conv->h, conv->pad_h, conv->r, conv->stride_h) ||
      conv->q != outputs(conv->w, conv->pad_w, conv->s, conv->stride_w)) {
    return Refusal{"libxsmm pads as much behind as before"};
  }
  if (rim == LibxsmmRim::copied && (conv->pad_h == 0) != (conv->pad_w == 0)) {
    return Refusal{"libxsmm copies the padding of height and width or neither: see libxsmm-rim"};
  }
  return std::nullopt;
}

std::string included_in(const Problem& problem, LibxsmmRim rim) {
  const Conv& conv = std::get<Conv>(problem.shape);
  const bool copies = rim == LibxsmmRim::copied && conv.pad_h + conv.pad_w > 0;
  std::string text = copies ? "padding copy" : "";
  if (problem.pass == Pass::bwd_d)
    text += copies ? "; filter transposition" : "filter transposition";
  return text;
}

}  // namespace

std::variant<Runnable, Refusal> libxsmm_conv(const Problem& problem, const Conditions& conditions,
                                             LibxsmmRim rim) {
  if (const auto reason = why_not(problem, rim)) return *reason;
  try {
    const auto state = std::make_shared<const LibxsmmConv>(problem, conditions, rim);
    Runnable runnable;
    runnable.included = included_in(problem, rim);
    runnable.workspace_bytes = state->workspace_bytes();
    runnable.load = [state](const Arrays& arrays) { state->load(arrays); };
    runnable.run = [state] { state->run(); };
    runnable.unload = [state](const Arrays& arrays) { state->unload(arrays.back()); };
    return runnable;
  } catch (const LibxsmmRefused& refused) {
    return Refusal{"libxsmm refuses this layer with status {got}", refused.status};
  }
}

}  // namespace loopbrick
