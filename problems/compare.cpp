#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "problems/lstm_reference.h"
#include "problems/operands.h"

namespace loopbrick {
namespace {

constexpr std::int64_t kOnesStop = std::int64_t{1} << 24;  ///< 2^24 + 1 is no float32

/// NaN and infinity agree with themselves only.
bool agree(float got, float want, double limit) {
  if (std::isnan(want)) return std::isnan(got);
  if (!std::isfinite(want)) return got == want;
  return std::abs(static_cast<double>(got) - static_cast<double>(want)) <= limit;
}

Mismatch compare_operand(std::string_view name, std::span<const float> got,
                         std::span<const float> want, double limit) {
  Mismatch found{.operand = name};
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (agree(got[i], want[i], limit)) continue;
    if (found.wrong == 0) {
      found.index = static_cast<std::int64_t>(i);
      found.got = got[i];
      found.want = want[i];
    }
    ++found.wrong;
  }
  return found;
}

/// "[1][63][0][5]": the row-major index in the operand's extents.
std::string index_text(const Operand& operand, std::int64_t index) {
  std::string text;
  for (auto extent = operand.extents.rbegin(); extent != operand.extents.rend(); ++extent) {
    text.insert(0, fmt::format("[{}]", index % *extent));
    index /= *extent;
  }
  return text;
}

/// What an activation that is no straight line adds: a few units in the last place of a result
/// below 1, or one of a result below 8, from where on gelu is the identity.
double tolerance_of(Activation activation) { return is_curved(activation) ? 8 * 0x1p-23 : 0.0; }

double tolerance_of_sum(const Problem& problem, Fill kind) {
  const std::int64_t length = sum_length(problem);
  switch (kind) {
    case Fill::integers:
      return 0.0;
    case Fill::ones:
      return length <= kOnesStop ? 0.0 : static_cast<double>(length - kOnesStop);
    case Fill::uniform:
      return (4.0 * static_cast<double>(length) + 10.0) * 0x1p-24;
    case Fill::denormal:
      return static_cast<double>(std::numeric_limits<float>::min());
  }
  return 0.0;
}

}  // namespace

namespace {

/// Gradients of what lay behind an activation: its slopes are rounded, and multiply the products.
double tolerance_of_gradient(const Problem& problem, Fill kind) {
  const double sum = tolerance_of_sum(problem, kind);
  if (problem.activation == Activation::sigmoid) return 2.0 * sum;
  if (slope_follows_from_result(problem.activation)) return sum;
  return steepest_slope(problem.activation) * sum +
         static_cast<double>(sum_length(problem)) * 0x1p-20;
}

}  // namespace

double tolerance(const Problem& problem, Fill kind) {
  if (problem.pass != Pass::fwd) return tolerance_of_gradient(problem, kind);
  return steepest_slope(problem.activation) * tolerance_of_sum(problem, kind) +
         tolerance_of(problem.activation);
}

std::vector<Mismatch> compare(const Problem& problem, Fill kind, const Arrays& got,
                              const Arrays& want) {
  const std::vector<Operand> all = operands(problem);
  const bool is_lstm = std::holds_alternative<Lstm>(problem.shape);
  std::vector<Mismatch> mismatches;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].output) continue;
    const double limit =
        is_lstm ? lstm_tolerance(problem, kind, all[i].name) : tolerance(problem, kind);
    const Mismatch found = compare_operand(all[i].name, got.at(i), want.at(i), limit);
    if (found.wrong != 0) mismatches.push_back(found);
  }
  return mismatches;
}

std::string to_string(const Mismatch& mismatch, const Problem& problem) {
  for (const Operand& operand : operands(problem)) {
    if (operand.name != mismatch.operand) continue;
    return fmt::format("{}{} is {}, should be {} ({} of {} elements are off)", operand.name,
                       index_text(operand, mismatch.index), mismatch.got, mismatch.want,
                       mismatch.wrong, elements(operand));
  }
  return fmt::format("{} is no operand of {}", mismatch.operand, to_string(problem));
}

}  // namespace loopbrick
