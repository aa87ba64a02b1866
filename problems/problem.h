#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/brgemm_spec.h"
#include "kernels/dtype.h"
#include "kernels/text.h"

namespace loopbrick {

/// A well-formed text that asks for more than can be run: a 3-D convolution, stacked LSTM layers.
struct UnsupportedProblem : ParseError {
  using ParseError::ParseError;
};

enum class Pass { fwd, train, bwd_d, bwd_w, bwd };

/// Where the channels of an activation lie: in blocks of 64 (the largest power of two from 16 to 64
/// that divides them, else all of them), or innermost. An odd number of channels is one block.
enum class Layout { blocked, nhwc };

/// C = sum over `batch` of A_i (m x k) * B_i (k x n), row-major, C overwritten. batch and k may be
/// 0.
struct Gemm {
  std::int64_t m = 1, n = 1, k = 1, batch = 1;
  std::int64_t lda = 1, ldb = 1, ldc = 1;

  friend bool operator==(const Gemm&, const Gemm&) = default;
};

/// A 2-D convolution, in the letters of the field: N C H W -> N K P Q with an R x S filter.
///
/// Units  pixels; dilation 1 is dense (benchdnn writes dense as 0); p and q are given, so that the
/// padding at the
///        bottom and right is whatever they need.
struct Conv {
  std::int64_t n = 1, c = 1, h = 1, w = 1, k = 1, p = 1, q = 1, r = 1, s = 1;
  std::int64_t stride_h = 1, stride_w = 1, pad_h = 0, pad_w = 0, dilation_h = 1, dilation_w = 1;
  std::int64_t groups = 1;

  friend bool operator==(const Conv&, const Conv&) = default;
};

/// y[n][k] = sum over c of x[n][c] * w[k][c].
///
/// A bias and an activation f of the passes backward make them those of y = f(x w^T + b): dy is the
/// gradient of y, and dz = dy f'(.) that of the sums, which dx, dw and the bias's gradient are made
/// of.
struct Fc {
  std::int64_t n = 1, c = 1, k = 1;

  friend bool operator==(const Fc&, const Fc&) = default;
};

/// One LSTM layer over t steps, c inputs, k hidden.
struct Lstm {
  std::int64_t t = 1, n = 1, c = 1, k = 1;

  friend bool operator==(const Lstm&, const Lstm&) = default;
};

using Shape = std::variant<Gemm, Conv, Fc, Lstm>;

/// What to compute; nothing about how.
///
/// Text   kind, pass, type, layout (unless blocked), benchdnn descriptor, post-ops:
///        "conv fwd f32 mb2ic64ih56oc64oh56kh3ph1+bias+relu", "gemm f32 64x33:33x64bs16ld40:80:64".
struct Problem {
  Shape shape;
  Pass pass = Pass::fwd;
  DType type = DType::f32;
  Layout layout = Layout::blocked;
  bool bias = false;
  Activation activation = Activation::none;

  friend bool operator==(const Problem&, const Problem&) = default;
};

/// The canonical text: parse_problem(to_string(p)) == p.
std::string to_string(const Problem& problem);
std::string_view to_string(Pass pass);

/// Errors  throws ParseError unless the text is a pass or one of its aliases (upd, bwd_weights,
/// fprop, dgrad, wgrad).
Pass parse_pass(std::string_view text);

/// What may be left out of a typed problem text.
struct ProblemDefaults {
  std::string_view kind = "conv";
  Pass pass = Pass::fwd;
  DType type = DType::f32;
  std::int64_t minibatch = 1;
  Layout layout = Layout::blocked;
};

/// A typed problem: "conv", "fwd", "f32", benchdnn's g1, squares (ih without iw) and a trailing
/// n"name" may be left out or given; a missing mb is defaults.minibatch.
///
/// Errors  throws ParseError that names the bad piece: an unknown letter, a size below 1, oh more
/// than one pixel
///         beyond what ih kh sh ph dh give, or a tensor beyond 2^63 bytes; UnsupportedProblem for
///         3-D.
Problem parse_problem(std::string_view text, const ProblemDefaults& defaults = {});

/// What an n"name" behind a descriptor says: "vgg_19:conv3_2*3" is that name, three times.
struct ProblemName {
  std::string name;
  std::int64_t multiplicity = 1;

  friend bool operator==(const ProblemName&, const ProblemName&) = default;
};

/// Errors  throws ParseError if the name is not closed or its multiplicity is not a count.
std::optional<ProblemName> parse_problem_name(std::string_view text);

/// Errors  throws ParseError unless the text is gemm (brgemm), conv, fc (ip) or lstm (rnn). Returns
/// the first form.
std::string_view parse_kind(std::string_view text);
std::string_view kind_of(const Problem& problem);

/// Errors  throws ParseError unless the text is blocked or nhwc.
Layout parse_layout(std::string_view text);
std::string_view to_string(Layout layout);

/// GEMM FLOPs as the field counts them: 2NKCPQRS for a convolution, padding included. Element-wise
/// work is not counted.
double flops(const Problem& problem);

/// Channels in one block of an activation with `channels` channels.
std::int64_t channel_block(Layout layout, std::int64_t channels);

}  // namespace loopbrick
