#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "problems/problem.h"

namespace loopbrick {

/// One array that a problem reads or writes, dense in the field's plain layout:
/// conv x NCHW, w OIHW (grouped: G,K/G,C/G,R,S), b K, y NKPQ; fc x [n][c], w [k][c], b K, y [n][k]
/// (backward: dy and w give dx, x and dy give dw, with a bias also db; an activation adds what its
/// slope follows from behind these inputs: the forward pass's result y, of gelu its sums z, bias
/// included, both [n][k]); gemm a [batch][m][k], b [batch][k][n], c [m][n];
/// lstm x [t][n][c], h0 and c0 [n][k], w [4][k][c], r [4][k][k], b [4][k] with the gates in the
/// order i, c, f, o, results h and c [t][n][k] (backward: also dh [t][n][k] and dc [n][k], of the
/// last cell state, give dx, dh0, dc0, dw, dr and db).
struct Operand {
  std::string_view name;
  std::vector<std::int64_t> extents;
  bool output = false;
};

/// All that harness, baselines and checks need to know of a problem's data; inputs first, then
/// outputs.
std::vector<Operand> operands(const Problem& problem);

/// Product of the extents, and bytes of all operands; INT64_MAX where that does not fit.
std::int64_t elements(const Operand& operand);
std::int64_t total_bytes(const Problem& problem);

/// Products that one element of the output sums, padding included: C/G * R * S for a forward
/// convolution.
std::int64_t sum_length(const Problem& problem);

/// One span for each of operands(problem), in that order.
using Arrays = std::vector<std::span<float>>;

/// How check and tune fill the inputs. `integers`: small whole numbers, results are exact;
/// `uniform`: [-1, 1); `ones`; `denormal`: magnitudes near 1e-42. Weights of an lstm are these
/// times lstm_weight_scale; its results are exact for none of them.
enum class Fill { integers, uniform, ones, denormal };

std::string_view to_string(Fill fill);
Fill parse_fill(std::string_view text);

/// Fills the inputs deterministically from `seed` and every output with NaN.
void fill(const Problem& problem, Fill kind, std::uint64_t seed, const Arrays& arrays);

/// Computes the outputs in double from the inputs and rounds once; `threads` OpenMP threads. The
/// order of every sum is the same for any number of threads.
///
/// Errors  throws std::invalid_argument for a pass without a reference and spans of a wrong
/// size.
void reference(const Problem& problem, const Arrays& arrays, int threads);

/// The largest |got - want| that rounding explains for this problem and fill. With D = sum_length:
///
/// integers  0: every partial sum of float32 is a whole number below 2^24, in any order (beyond
///           D = 2^24 almost surely).
/// ones      0 up to D = 2^24, where a float32 sum of ones stops growing; D - 2^24 beyond.
/// uniform   (4 D + 10) 2^-24. Products have mean 0 and variance 1/9, so partial sums walk to
///           sqrt(D) / 3 and their roundings add up to a standard deviation of D 2^-24 / 10; the
///           largest seen in 10^7 sums of D = 64 and 4 10^6 of D = 576 was 1.25 D 2^-24. A missing
///           product has the size 1/4: at D = 4608 that is 200 times the tolerance.
/// Backward, slopes of an activation multiply the products: of sigmoid by up to 2, since y is
/// filled as any input is; one of gelu is right to 2^-22 only, which adds D * 2^-20.
/// Forward, a slope of up to 1.13 of gelu multiplies each; sigmoid, tanh and gelu add 8 * 2^-23.
/// denormal  the smallest normal number: whoever flushes denormals to zero is right.
///
/// The outputs of an lstm have tolerances of their own: lstm_tolerance.
double tolerance(const Problem& problem, Fill kind);

/// First element that is off, as a value: operand, index, what was got and wanted.
struct Mismatch {
  std::string_view operand;
  std::int64_t index = 0;  ///< row-major in the operand's extents
  float got = 0.0F;
  float want = 0.0F;
  std::int64_t wrong = 0;  ///< how many elements are off in all
};

/// Compares the outputs; NaN and infinity are always off unless wanted.
std::vector<Mismatch> compare(const Problem& problem, Fill kind, const Arrays& got,
                              const Arrays& want);

/// "y[1][63][0][5] is 3, should be 5 (17 of 401408 elements are off)".
std::string to_string(const Mismatch& mismatch, const Problem& problem);

}  // namespace loopbrick
