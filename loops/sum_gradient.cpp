#include "loops/sum_gradient.h"

#include <algorithm>

#include "kernels/text.h"
#include "loops/operand_layout.h"
#include "loops/own_numbers.h"

namespace loopbrick {

namespace {

constexpr std::int64_t kWidest = 64;  // columns of one call
constexpr std::int64_t kLine = 16;    // elements of a cache line
constexpr float kOne = 1.0F;

std::int64_t lines(std::int64_t elements) { return saturating_sum(elements, kLine - 1) / kLine; }

/// One row of ones times the rows of a column block, each row an entry of the batch.
BrgemmSpec sum_of_rows(Isa isa, std::int64_t columns, std::int64_t pitch) {
  return {.isa = isa,
          .m = 1,
          .n = static_cast<int>(columns),
          .k = 1,
          .ldb = pitch,
          .ldc = columns,
          .form = BatchForm::stride,
          .b_batch_stride = pitch};
}

}  // namespace

std::optional<SumGradient> SumGradient::of(const Problem& problem, const Conditions& conditions,
                                           KernelCache& kernels) {
  const bool has_any = problem.bias || problem.activation != Activation::none;
  if (problem.pass == Pass::fwd || !has_any) return std::nullopt;
  return SumGradient(problem, conditions, kernels);
}

SumGradient::SumGradient(const Problem& problem, const Conditions& conditions, KernelCache& kernels)
    : bias_(problem.bias), threads_(conditions.threads) {
  if (problem.activation != Activation::none)
    product_ = slope_product(conditions.isa, problem.activation);
  const Fc& fc = std::get<Fc>(problem.shape);
  rows_ = fc.n;
  columns_ = fc.k;
  if (!bias_) return;
  const EntryAccess lies = entry_access(problem.layout, fc.n, fc.k);
  width_ = std::min(kWidest, channel_block(problem.layout, fc.k));
  next_columns_ = lies.channel.offset(width_);
  whole_ = kernels.get(sum_of_rows(conditions.isa, width_, lies.entry.inner));
  if (const std::int64_t rest = columns_ % width_; rest > 0)
    rest_ = kernels.get(sum_of_rows(conditions.isa, rest, lies.entry.inner));
}

std::int64_t SumGradient::workspace_bytes() const {
  if (product_ == nullptr) return 0;
  return saturating_product(lines(saturating_product(rows_, columns_)),
                            kLine * std::int64_t{sizeof(float)});
}

const float* SumGradient::run(const float* dy, const float* kept, float* db,
                              std::byte* workspace) const noexcept {
  auto* const dz = reinterpret_cast<float*>(workspace);
  const float* const gradient = product_ == nullptr ? dy : dz;
  const std::int64_t count = rows_ * columns_;
#pragma omp parallel num_threads(threads_)
  {
    const OwnNumbers numbers(threads_);
    if (product_ != nullptr) {
      numbers.each([&](int number) {
        const std::int64_t first = lines(count) * number / threads_ * kLine;
        const std::int64_t end = std::min(lines(count) * (number + 1) / threads_ * kLine, count);
        if (first < end) product_(dy + first, kept + first, dz + first, end - first);
      });
#pragma omp barrier
    }
    if (bias_) numbers.each([&](int number) { add_rows(number, gradient, db); });
  }
  return gradient;
}

/// This thread's share of the columns.
void SumGradient::add_rows(int number, const float* dz, float* db) const noexcept {
  const std::int64_t calls = (columns_ + width_ - 1) / width_;
  for (std::int64_t i = calls * number / threads_; i < calls * (number + 1) / threads_; ++i) {
    const BrgemmKernel& kernel = (i + 1) * width_ <= columns_ ? *whole_ : *rest_;
    kernel({.a = &kOne,
            .b = dz + i * next_columns_,
            .c = db + i * width_,
            .list = nullptr,
            .counts = &rows_,
            .bias = nullptr});
  }
}

}  // namespace loopbrick
