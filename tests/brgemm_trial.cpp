#include "tests/brgemm_trial.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numeric>

#include "kernels/row_plan.h"

namespace loopbrick {
namespace {

constexpr float kGap = std::numeric_limits<float>::quiet_NaN();

/// Offsets from `least` to `most` are used.
struct Range {
  std::int64_t least = 0;
  std::int64_t most = 0;

  void include(std::int64_t offset) {
    least = std::min(least, offset);
    most = std::max(most, offset);
  }
  std::int64_t size() const { return most - least + 1; }
};

Range a_range(const BrgemmSpec& spec) {
  Range range;
  for (int row = 0; row < spec.m; ++row) {
    range.include(a_offset(spec, row));
    range.include(a_offset(spec, row) + (spec.k - 1) * spec.a_k_stride);
  }
  return range;
}

Range c_range(const BrgemmSpec& spec) {
  Range range;
  for (int row = 0; row < spec.m; ++row) {
    range.include(c_offset(spec, row));
    range.include(c_offset(spec, row) + spec.n - 1);
  }
  return range;
}

std::int64_t b_size(const BrgemmSpec& spec) {
  return spec.k == 0 ? 0 : (spec.k - 1) * spec.ldb + spec.n;
}

GuardedFloats floats(std::int64_t count, GuardedFloats::Flush flush) {
  GuardedFloats made(static_cast<std::size_t>(count), flush);
  std::fill(made.values().begin(), made.values().end(), kGap);
  return made;
}

bool same_bits(float left, float right) {
  return std::bit_cast<std::uint32_t>(left) == std::bit_cast<std::uint32_t>(right);
}

std::int64_t sum(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

}  // namespace

BrgemmTrial::BrgemmTrial(const BrgemmSpec& spec, const Options& options)
    : spec_(spec),
      options_(options),
      state_(options.seed),
      a_(floats(0, options.flush)),
      b_(floats(0, options.flush)),
      c_(floats(c_range(spec).size(), options.flush)),
      bias_(floats(spec.n, options.flush)),
      list_(floats(entries() * 4, options.flush)),
      counts_(floats(group_count(spec) * 2, options.flush)) {
  place_entries();
  fill_inputs();
  fill_list();
  std::copy(options_.counts.begin(), options_.counts.end(),
            reinterpret_cast<std::int64_t*>(counts_.data()));
  for (GuardedFloats* input : {&a_, &b_, &bias_, &list_, &counts_}) input->make_read_only();
}

std::int64_t BrgemmTrial::entries() const { return sum(options_.counts); }

/// Entries lie back to back; every second one of a list is swapped with its neighbour.
void BrgemmTrial::place_entries() {
  const Range range = a_range(spec_);
  const std::int64_t a_size = spec_.k == 0 ? 0 : range.size();
  const bool strided = spec_.form == BatchForm::stride;
  const std::int64_t a_step = strided ? spec_.a_batch_stride : a_size;
  const std::int64_t b_step = strided ? spec_.b_batch_stride : b_size(spec_);
  const std::int64_t last = std::max<std::int64_t>(entries() - 1, 0);
  a_origin_ = -range.least - std::min<std::int64_t>(0, last * a_step);
  for (std::int64_t i = 0; i < entries(); ++i) {
    const std::int64_t place = strided || (i ^ 1) > last ? i : i ^ 1;
    places_.push_back({place * a_step, place * b_step});
  }
  const bool used = entries() > 0 && spec_.k > 0;
  a_ = floats(used ? a_size + std::abs(last * a_step) : 0, options_.flush);
  b_ = floats(used ? b_size(spec_) + last * b_step : 0, options_.flush);
  c_origin_ = -c_range(spec_).least;
}

/// Only what the kernel may read: gaps stay NaN.
void BrgemmTrial::fill_inputs() {
  for (const BatchOffset& place : places_) {
    for (int row = 0; row < spec_.m; ++row) {
      for (int k = 0; k < spec_.k; ++k) {
        a_.data()[a_origin_ + place.a + a_offset(spec_, row) + k * spec_.a_k_stride] = value();
      }
    }
    for (int k = 0; k < spec_.k; ++k) {
      for (int j = 0; j < spec_.n; ++j) b_.data()[place.b + k * spec_.ldb + j] = value();
    }
  }
  for (float& bias : bias_.values()) bias = value();
}

void BrgemmTrial::fill_list() {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const BatchOffset& place = places_[i];
    if (spec_.form == BatchForm::address) {
      reinterpret_cast<BatchAddress*>(list_.data())[i] = {a_.data() + a_origin_ + place.a,
                                                          b_.data() + place.b};
    } else {
      reinterpret_cast<BatchOffset*>(list_.data())[i] = place;
    }
  }
}

void BrgemmTrial::fill_c() {
  std::fill(c_.values().begin(), c_.values().end(), kGap);
  if (!spec_.accumulate) return;
  state_ = options_.seed + 1;
  for (int row = 0; row < spec_.m; ++row) {
    for (int j = 0; j < spec_.n; ++j) c_.data()[c_origin_ + c_offset(spec_, row) + j] = value();
  }
}

float BrgemmTrial::value() {
  state_ = state_ * 1664525U + 1013904223U;
  const auto bits = static_cast<int>(state_ >> 16);
  switch (options_.fill) {
    case Fill::integers:
      return static_cast<float>(bits % 7 - 3);
    case Fill::uniform:
      return static_cast<float>(bits - 32768) / 32768.0F;
    case Fill::ones:
      return 1.0F;
    case Fill::tenths:
      return 0.1F;
  }
  return 0.0F;
}

BrgemmCall BrgemmTrial::call() {
  return {.a = a_.data() + a_origin_,
          .b = b_.data(),
          .c = c_.data() + c_origin_,
          .list = list_.data(),
          .counts = reinterpret_cast<const std::int64_t*>(counts_.data()),
          .bias = bias_.data()};
}

std::string BrgemmTrial::run(const BrgemmKernel& kernel) {
  fill_c();
  brgemm_reference(spec_, call());
  const std::vector<float> wanted(c_.values().begin(), c_.values().end());
  fill_c();
  kernel(call());
  return difference(wanted);
}

/// The sums are small, so that curved activations have values of a few units at most.
/// Rounding errors of random signs add up like the square root of the terms, and so do the sums.
double BrgemmTrial::tolerance() const {
  const double curve =
      is_curved(spec_.activation) ? 4.0 * std::numeric_limits<float>::epsilon() : 0.0;
  if (options_.fill == Fill::integers || options_.fill == Fill::ones) return curve;
  const auto terms = static_cast<double>(entries() * spec_.k + 2);
  return 4.0 * std::numeric_limits<float>::epsilon() * terms * steepest_slope(spec_.activation) +
         curve;
}

std::string BrgemmTrial::difference(const std::vector<float>& wanted) const {
  const double allowed = tolerance();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const float got = c_.data()[i];
    if (same_bits(got, wanted[i]) || std::abs(double{got} - double{wanted[i]}) <= allowed) continue;
    return fmt::format("'{}' of {} entries: element {} of C is {}, not {}", to_string(spec_),
                       entries(), static_cast<std::int64_t>(i) - c_origin_, got, wanted[i]);
  }
  return {};
}

std::vector<float> BrgemmTrial::result() const {
  std::vector<float> dense;
  for (int row = 0; row < spec_.m; ++row) {
    const float* const first = c_.data() + c_origin_ + c_offset(spec_, row);
    dense.insert(dense.end(), first, first + spec_.n);
  }
  return dense;
}

std::vector<Isa> runnable_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : {Isa::ref, Isa::avx2, Isa::avx512}) {
    if (isa <= best_isa()) isas.push_back(isa);
  }
  return isas;
}

}  // namespace loopbrick
