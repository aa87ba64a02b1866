#include <algorithm>
#include <array>
#include <cstddef>

#include "kernels/brgemm_kernel.h"
#include "kernels/row_plan.h"

namespace loopbrick {
namespace {

/// Columns that are summed side by side, so that B is read along its rows.
constexpr int kColumns = 64;
using Sums = std::array<double, kColumns>;

struct Entry {
  const float* a;
  const float* b;
};

/// Operands of the i-th batch entry.
Entry entry(const BrgemmSpec& spec, const BrgemmCall& call, std::int64_t i) {
  if (spec.form == BatchForm::address) {
    const auto& place = static_cast<const BatchAddress*>(call.list)[i];
    return {static_cast<const float*>(place.a), static_cast<const float*>(place.b)};
  }
  BatchOffset offset{i * spec.a_batch_stride, i * spec.b_batch_stride};
  if (spec.form == BatchForm::offset) offset = static_cast<const BatchOffset*>(call.list)[i];
  return {static_cast<const float*>(call.a) + offset.a,
          static_cast<const float*>(call.b) + offset.b};
}

/// One stretch of a row of C.
struct Stretch {
  int row;
  int first;
  int count;
};

void add_entry(const BrgemmSpec& spec, const Entry& operands, const Stretch& at, Sums& sums) {
  for (std::int64_t k = 0; k < spec.k; ++k) {
    const double a = operands.a[a_offset(spec, at.row) + k * spec.a_k_stride];
    const float* const b = operands.b + k * spec.ldb + at.first;
    for (int j = 0; j < at.count; ++j) sums[static_cast<std::size_t>(j)] += a * b[j];
  }
}

/// Entries lie in group order whether or not their window holds the row.
void add_groups(const BrgemmSpec& spec, const BrgemmCall& call, const Stretch& at, Sums& sums) {
  std::int64_t first = 0;
  for (int group = 0; group < group_count(spec); ++group) {
    const std::int64_t last = first + call.counts[group];
    const bool active = spec.k > 0 && is_active(spec, group, at.row);
    for (std::int64_t i = first; active && i < last; ++i) {
      add_entry(spec, entry(spec, call, i), at, sums);
    }
    first = last;
  }
}

double finished(const BrgemmSpec& spec, const BrgemmCall& call, int column, double sum) {
  const double value = spec.bias ? sum + call.bias[column] : sum;
  return activated(spec.activation, value);
}

void compute(const BrgemmSpec& spec, const BrgemmCall& call, const Stretch& at) {
  float* const c = static_cast<float*>(call.c) + c_offset(spec, at.row) + at.first;
  Sums sums{};
  if (spec.accumulate) std::copy_n(c, at.count, sums.begin());
  add_groups(spec, call, at, sums);
  for (int j = 0; j < at.count; ++j) {
    c[j] =
        static_cast<float>(finished(spec, call, at.first + j, sums[static_cast<std::size_t>(j)]));
  }
}

}  // namespace

void brgemm_reference(const BrgemmSpec& spec, const BrgemmCall& call) {
  for (int row = 0; row < spec.m; ++row) {
    for (int first = 0; first < spec.n; first += kColumns) {
      compute(spec, call, {row, first, std::min(kColumns, spec.n - first)});
    }
  }
}

}  // namespace loopbrick
