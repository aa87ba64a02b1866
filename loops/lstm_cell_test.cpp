#include "loops/lstm_cell.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/guarded_floats.h"

namespace loopbrick {
namespace {

constexpr std::int64_t kRows = 3, kCols = 37, kPitch = 41;  ///< no whole vectors, gaps between rows
constexpr std::int64_t kSize = (kRows - 1) * kPitch + kCols;
constexpr double kNear = 1e-6;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// From -`range` to `range`, in steps that no two arrays share.
GuardedFloats values(float range, int number, std::int64_t count = kSize) {
  GuardedFloats floats(at(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const double part = std::fmod(static_cast<double>(i) * 0.37 + number * 0.61, 1.0);
    floats.data()[i] = range * static_cast<float>(2.0 * part - 1.0);
  }
  return floats;
}

std::vector<Isa> isas() {
  std::vector<Isa> all;
  for (const Isa isa : {Isa::ref, Isa::avx2, Isa::avx512}) {
    if (isa <= best_isa()) all.push_back(isa);
  }
  return all;
}

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

/// Calls visit(index) for every cell of the tile.
template <typename Visit>
void for_cells(Visit visit) {
  for (std::int64_t row = 0; row < kRows; ++row) {
    for (std::int64_t col = 0; col < kCols; ++col) visit(row * kPitch + col);
  }
}

TEST(LstmCell, ForwardFollowsTheEquationsForAnySum) {
  for (const Isa isa : isas()) {
    for (const float range : {1.0F, 20.0F, 1e4F}) {
      GuardedFloats gates = values(range, 1, 4 * kSize);
      const GuardedFloats sums = values(range, 1, 4 * kSize), before = values(2.0F, 2);
      GuardedFloats c = values(0.0F, 0), h = values(0.0F, 0);
      lstm_cell(isa).forward({.rows = kRows,
                              .cols = kCols,
                              .sums = gates.data(),
                              .gate_stride = kSize,
                              .gate_row_stride = kPitch,
                              .c_before = before.data(),
                              .c = c.data(),
                              .h = h.data(),
                              .state_row_stride = kPitch});
      for_cells([&](std::int64_t i) {
        const auto z = [&](int g) { return static_cast<double>(sums.data()[g * kSize + i]); };
        const double in = sigmoid(z(0)), candidate = std::tanh(z(1)), forget = sigmoid(z(2)),
                     out = sigmoid(z(3));
        const double state = forget * static_cast<double>(before.data()[i]) + in * candidate;
        EXPECT_NEAR(c.data()[i], state, kNear);
        EXPECT_NEAR(h.data()[i], out * std::tanh(state), kNear);
        EXPECT_NEAR(gates.data()[i], in, kNear);
        EXPECT_NEAR(gates.data()[kSize + i], candidate, kNear);
        EXPECT_NEAR(gates.data()[2 * kSize + i], forget, kNear);
        EXPECT_NEAR(gates.data()[3 * kSize + i], out, kNear);
      });
    }
  }
}

TEST(LstmCell, BackwardFollowsTheEquationsAndAddsUpTheBias) {
  for (const Isa isa : isas()) {
    for (const bool has_later : {false, true}) {
      const GuardedFloats gates = values(1.0F, 1, 4 * kSize), before = values(2.0F, 2),
                          c = values(3.0F, 3), dh = values(1.0F, 4), later = values(1.0F, 5),
                          dc_later = values(1.0F, 6);
      GuardedFloats dz = values(0.0F, 0, 4 * kSize), dc = values(1.0F, 6),
                    db = values(0.0F, 0, 4 * kCols);
      lstm_cell(isa).backward({.rows = kRows,
                               .cols = kCols,
                               .gates = gates.data(),
                               .dz = dz.data(),
                               .gate_stride = kSize,
                               .gate_row_stride = kPitch,
                               .c_before = before.data(),
                               .c = c.data(),
                               .dh = dh.data(),
                               .dh_later = has_later ? later.data() : nullptr,
                               .dc_later = dc.data(),
                               .dc = dc.data(),
                               .state_row_stride = kPitch,
                               .db = db.data(),
                               .db_gate_stride = kCols});
      std::vector<double> sums(at(4 * kCols));
      for_cells([&](std::int64_t i) {
        const auto value = [i](const GuardedFloats& from) {
          return static_cast<double>(from.data()[i]);
        };
        const auto gate = [&](int g) { return static_cast<double>(gates.data()[g * kSize + i]); };
        const double bent = std::tanh(value(c));
        const double d_h = value(dh) + (has_later ? value(later) : 0.0);
        const double d_c = value(dc_later) + d_h * gate(3) * (1.0 - bent * bent);
        const double want[4] = {d_c * gate(1) * gate(0) * (1.0 - gate(0)),
                                d_c * gate(0) * (1.0 - gate(1) * gate(1)),
                                d_c * value(before) * gate(2) * (1.0 - gate(2)),
                                d_h * bent * gate(3) * (1.0 - gate(3))};
        EXPECT_NEAR(dc.data()[i], d_c * gate(2), kNear);
        for (int g = 0; g < 4; ++g) {
          EXPECT_NEAR(dz.data()[g * kSize + i], want[g], 3 * kNear);
          sums[at(g * kCols + i % kPitch)] += want[g];
        }
      });
      for (std::int64_t i = 0; i < 4 * kCols; ++i)
        EXPECT_NEAR(db.data()[i], sums[at(i)], 9 * kNear);
    }
  }
}

}  // namespace
}  // namespace loopbrick
