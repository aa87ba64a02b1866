// The loops around a small GEMM that the batch-reduce kernel does away with: for each image, block
// of output features and row of pixels, one call per block of input channels and filter tap. Each
// call reads C from memory and writes it back. The GEMM is ours with one batch entry, so the
// difference to the brick is the batch alone.
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "baselines/applicable.h"
#include "baselines/blocked_channels.h"
#include "baselines/buffer.h"
#include "baselines/doubt.h"
#include "baselines/rows.h"
#include "kernels/brgemm_kernel.h"
#include "kernels/text.h"

namespace loopbrick {
namespace {

// Rows of a call where all pixels of an image lie at one stride.
constexpr std::int64_t kMostRows = 64;

std::string version() { return LOOPBRICK_VERSION; }

/// Sizes of the blocked operands and of one call.
struct Tiling {
  std::int64_t c_block = 1, k_block = 1;
  std::int64_t c_blocks = 1, k_blocks = 1;
  std::int64_t h = 1, w = 1;  ///< of the input that the calls read, its rim included
  bool copies = false;        ///< the rim makes a copy of the input necessary
  std::int64_t pieces = 1;    ///< of an image; one call computes one
  std::int64_t rows = 1;      ///< pixels of a piece
};

bool is_dense_1x1(const Conv& conv) {
  return conv.r == 1 && conv.s == 1 && conv.stride_h == 1 && conv.stride_w == 1;
}

/// Divisor of `pixels` that is not above kMostRows.
std::int64_t even_piece(std::int64_t pixels) {
  std::int64_t rows = std::min(pixels, kMostRows);
  while (pixels % rows != 0) --rows;
  return rows;
}

Tiling tiling_of(const Conv& conv) {
  Tiling t{.c_block = channel_block(Layout::blocked, conv.c),
           .k_block = channel_block(Layout::blocked, conv.k),
           .pieces = conv.p,
           .rows = conv.q};
  t.c_blocks = conv.c / t.c_block;
  t.k_blocks = conv.k / t.k_block;
  const std::int64_t reach_h = (conv.p - 1) * conv.stride_h + (conv.r - 1) * conv.dilation_h + 1;
  const std::int64_t reach_w = (conv.q - 1) * conv.stride_w + (conv.s - 1) * conv.dilation_w + 1;
  t.copies = conv.pad_h > 0 || conv.pad_w > 0 || reach_h > conv.h || reach_w > conv.w;
  t.h = t.copies ? reach_h : conv.h;
  t.w = t.copies ? reach_w : conv.w;
  if (is_dense_1x1(conv) && t.w == conv.q) {
    t.rows = even_piece(conv.p * conv.q);
    t.pieces = conv.p * conv.q / t.rows;
  }
  return t;
}

/// The calls of one piece differ in whether they begin the sum and whether they end it.
std::size_t kernel_index(bool first, bool last) { return (first ? 1U : 0U) + (last ? 2U : 0U); }

BrgemmSpec spec_of(const Problem& problem, const Tiling& t, Isa isa, bool first, bool last) {
  const Conv& conv = std::get<Conv>(problem.shape);
  return {.isa = isa,
          .m = static_cast<int>(t.rows),
          .n = static_cast<int>(t.k_block),
          .k = static_cast<int>(t.c_block),
          .a_row_stride = conv.stride_w * t.c_block,
          .ldb = t.k_block,
          .ldc = t.k_block,
          .accumulate = !first,
          .form = BatchForm::stride,
          .windows = {},
          .bias = last && problem.bias,
          .activation = last ? problem.activation : Activation::none};
}

std::vector<BrgemmKernel> make_kernels(const Problem& problem, const Tiling& t, Isa isa) {
  std::vector<BrgemmKernel> kernels;
  for (const bool last : {false, true}) {
    for (const bool first : {false, true}) {
      kernels.emplace_back(spec_of(problem, t, isa, first, last));
    }
  }
  return kernels;
}

struct SmallGemmConv {
  SmallGemmConv(const Problem& wanted, const Conditions& conditions)
      : problem(wanted),
        conv(std::get<Conv>(wanted.shape)),
        t(tiling_of(conv)),
        threads(conditions.threads),
        kernels(make_kernels(wanted, t, wanted_isa(conditions))),
        x(conv.n * conv.c * conv.h * conv.w, conditions.pages),
        w(conv.k * conv.c * conv.r * conv.s, conditions.pages),
        bias(problem.bias ? conv.k : 0, conditions.pages),
        padded(t.copies ? conv.n * conv.c * t.h * t.w : 0, conditions.pages),
        y(conv.n * conv.k * conv.p * conv.q, conditions.pages) {}

  void load(const Arrays& arrays) const {
    block_channels({conv.n, conv.c, conv.h * conv.w, t.c_block},
                   array_named("x", problem, arrays).data(), x.data());
    load_weights(array_named("w", problem, arrays).data());
    if (problem.bias) std::ranges::copy(array_named("b", problem, arrays), bias.data());
  }

  /// [K][C][R][S] to [K blocks][C blocks][R][S][c][k].
  void load_weights(const float* plain) const {
    const std::int64_t taps = conv.r * conv.s;
    for (std::int64_t k = 0; k < conv.k; ++k) {
      for (std::int64_t c = 0; c < conv.c; ++c) {
        float* to =
            weights(k / t.k_block, c / t.c_block) + (c % t.c_block) * t.k_block + k % t.k_block;
        for (std::int64_t tap = 0; tap < taps; ++tap) {
          to[tap * t.c_block * t.k_block] = plain[(k * conv.c + c) * taps + tap];
        }
      }
    }
  }

  void run() const {
#pragma omp parallel num_threads(threads)
    {
      if (t.copies) copy_lines();
#pragma omp for collapse(3) schedule(static)
      for (std::int64_t n = 0; n < conv.n; ++n) {
        for (std::int64_t k = 0; k < t.k_blocks; ++k) {
          for (std::int64_t piece = 0; piece < t.pieces; ++piece) compute_piece(n, k, piece);
        }
      }
    }
  }

  /// The input into `padded`, whose rim stays zero. Shared by the threads of the region around it.
  void copy_lines() const {
    const std::int64_t lines = std::clamp<std::int64_t>(t.h - conv.pad_h, 0, conv.h);
    const std::int64_t width = std::clamp<std::int64_t>(t.w - conv.pad_w, 0, conv.w);
#pragma omp for collapse(2) schedule(static)
    for (std::int64_t plane = 0; plane < conv.n * t.c_blocks; ++plane) {
      for (std::int64_t h = 0; h < lines; ++h) {
        float* to = padded.data() + ((plane * t.h + h + conv.pad_h) * t.w + conv.pad_w) * t.c_block;
        std::copy_n(x.data() + (plane * conv.h + h) * conv.w * t.c_block, width * t.c_block, to);
      }
    }
  }

  void compute_piece(std::int64_t n, std::int64_t k, std::int64_t piece) const {
    constexpr std::int64_t kOne = 1;
    const std::int64_t taps = conv.r * conv.s;
    const std::int64_t entries = t.c_blocks * taps;
    BrgemmCall call{.c = output(n, k, piece), .counts = &kOne, .bias = bias.data()};
    if (problem.bias) call.bias += k * t.k_block;
    for (std::int64_t entry = 0; entry < entries; ++entry) {
      const std::int64_t tap = entry % taps;
      call.a = input(n, entry / taps, piece, tap / conv.s, tap % conv.s);
      call.b = weights(k, 0) + entry * t.c_block * t.k_block;
      kernels[kernel_index(entry == 0, entry == entries - 1)](call);
    }
  }

  const float* input(std::int64_t n, std::int64_t c, std::int64_t piece, std::int64_t r,
                     std::int64_t s) const {
    const std::int64_t plane = (n * t.c_blocks + c) * t.h * t.w;
    const std::int64_t pixel =
        is_dense_1x1(conv) && t.w == conv.q
            ? piece * t.rows
            : (piece * conv.stride_h + r * conv.dilation_h) * t.w + s * conv.dilation_w;
    return (t.copies ? padded : x).data() + (plane + pixel) * t.c_block;
  }

  float* weights(std::int64_t k, std::int64_t c) const {
    return w.data() + (k * t.c_blocks + c) * conv.r * conv.s * t.c_block * t.k_block;
  }

  float* output(std::int64_t n, std::int64_t k, std::int64_t piece) const {
    return y.data() + ((n * t.k_blocks + k) * t.pieces + piece) * t.rows * t.k_block;
  }

  void unload(std::span<float> plain) const {
    unblock_channels({conv.n, conv.k, conv.p * conv.q, t.k_block}, y.data(), plain.data());
  }

  Problem problem;
  Conv conv;
  Tiling t;
  int threads;
  std::vector<BrgemmKernel> kernels;
  Buffer x, w, bias, padded, y;
};

std::optional<Refusal> why_not_conv(const Problem& problem, const Conditions& conditions) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  const Conv& conv = std::get<Conv>(problem.shape);
  if (conv.groups > 1)
    return Refusal{"the small-GEMM loops take one group, not {got}", conv.groups};
  const Tiling t = tiling_of(conv);
  const std::int64_t largest = std::max({t.rows, t.c_block, t.k_block});
  if (largest > kMost) return Refusal{"a small GEMM of {got} is beyond {limit}", largest, kMost};
  for (const bool last : {false, true}) {
    if (loopbrick::why_not(spec_of(problem, t, wanted_isa(conditions), true, last))) {
      return Refusal{"the kernel generator refuses this small GEMM"};
    }
  }
  return std::nullopt;
}

std::string kernel_text(const Tiling& t, Isa isa) {
  return std::string(to_string(isa)) + ' ' + std::to_string(t.rows) + 'x' +
         std::to_string(t.k_block) + 'x' + std::to_string(t.c_block);
}

std::variant<Runnable, Refusal> prepare(const Problem& problem, std::string_view choice,
                                        const Conditions& conditions) {
  if (const auto reason = why_no_baseline(problem, choice)) return *reason;
  if (!std::holds_alternative<Conv>(problem.shape)) {
    return Refusal{"the small-GEMM loops are those of a convolution"};
  }
  if (problem.pass != Pass::fwd) return Refusal{"the small-GEMM loops are those of fwd"};
  if (const auto reason = why_not_conv(problem, conditions)) return *reason;
  const auto state = std::make_shared<const SmallGemmConv>(problem, conditions);
  Runnable runnable;
  runnable.implementation = kernel_text(state->t, wanted_isa(conditions));
  runnable.included = state->t.copies ? "padding copy" : "";
  runnable.flag = doubt(runnable.implementation, wanted_isa(conditions));
  runnable.workspace_bytes = state->padded.size_bytes();
  runnable.load = [state](const Arrays& arrays) { state->load(arrays); };
  runnable.run = [state] { state->run(); };
  runnable.unload = [state](const Arrays& arrays) {
    state->unload(array_named("y", state->problem, arrays));
  };
  return runnable;
}

}  // namespace

Implementation small_gemm_row() {
  return {.name = "small-gemm",
          .sentence = "loops of small GEMMs, one per filter tap and channel block",
          .version = version,
          .prepare = prepare};
}

}  // namespace loopbrick
