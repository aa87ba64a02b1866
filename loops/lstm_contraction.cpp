#include "loops/lstm_steps.h"
#include "loops/operand_layout.h"

namespace loopbrick {

namespace {

AxisAccess& at(Access& access, Axis axis) { return access[place(axis)]; }

/// An axis in blocks whose neighbours lie side by side.
AxisAccess blocked(std::int64_t extent, std::int64_t block, std::int64_t outer) {
  return block < extent ? AxisAccess{1, block, outer} : AxisAccess{.inner = 1};
}

std::int64_t hidden_block(const Lstm& lstm) { return channel_block(Layout::blocked, lstm.k); }

/// [4][k / block][feature][block]
Access gradient_access(const Lstm& lstm, Axis feature, std::int64_t features) {
  const std::int64_t block = hidden_block(lstm);
  Access access{};
  at(access, Axis::g).inner = lstm.k * features;
  at(access, Axis::k) = blocked(lstm.k, block, features * block);
  at(access, feature).inner = block;
  return access;
}

std::int64_t extent_of(const Lstm& lstm, Axis axis) {
  switch (axis) {
    case Axis::t:
      return lstm.t;
    case Axis::n:
      return lstm.n;
    case Axis::g:
      return 4;
    case Axis::c:
      return lstm.c;
    default:
      return lstm.k;  // k and h
  }
}

Contraction with_axes(const Lstm& lstm, Few<Axis, 5> outputs, Few<Axis, 5> sums) {
  Contraction to;
  to.outputs = outputs;
  to.sums = sums;
  for (const auto* axes : {&to.outputs, &to.sums}) {
    for (const Axis axis : *axes) to.extents[place(axis)] = extent_of(lstm, axis);
  }
  return to;
}

/// z = x w or h r: rows n, columns k, depth c or h.
Contraction forward(const Lstm& lstm, Few<Axis, 5> outputs, Axis depth) {
  Contraction to = with_axes(lstm, outputs, {depth});
  to.row = Axis::n;
  to.columns = Axis::k;
  to.depth = depth;
  to.a = lstm_state_access(lstm, depth);
  to.depth_block = at(to.a, depth).block;
  to.c = lstm_gate_access(lstm);
  to.columns_block = at(to.c, Axis::k).block;
  return to;
}

/// dz times transposed weights: rows n, depth k.
Contraction by_data(const Lstm& lstm, Few<Axis, 5> outputs, Axis columns) {
  Contraction to = with_axes(lstm, outputs, {Axis::k, Axis::g});
  to.row = Axis::n;
  to.columns = columns;
  to.depth = Axis::k;
  to.a = lstm_gate_access(lstm);
  to.c = lstm_state_access(lstm, columns);
  to.columns_block = at(to.c, columns).block;
  to.depth_block = at(to.a, Axis::k).block;
  return to;
}

/// x or h times dz, summed over all entries of all time steps: rows c or h, whose sum runs along
/// the rows of memory.
Contraction by_weights(const Lstm& lstm, Axis row) {
  Contraction to = with_axes(lstm, {row, Axis::k, Axis::g}, {Axis::n, Axis::t});
  to.row = row;
  to.columns = Axis::k;
  to.depth = Axis::n;
  to.a = lstm_state_access(lstm, row);
  to.row_block = at(to.a, row).block;
  to.b = lstm_gate_access(lstm);
  to.c = gradient_access(lstm, row, to.extent(row));
  to.columns_block = at(to.c, Axis::k).block;
  return to;
}

}  // namespace

Access lstm_gate_access(const Lstm& lstm) {
  const std::int64_t block = hidden_block(lstm);
  Access access{};
  at(access, Axis::t).inner = 4 * lstm.n * lstm.k;
  at(access, Axis::k) = blocked(lstm.k, block, 4 * lstm.n * block);
  at(access, Axis::g).inner = lstm.n * block;
  at(access, Axis::n).inner = block;
  return access;
}

Access lstm_state_access(const Lstm& lstm, Axis feature) {
  const std::int64_t features = extent_of(lstm, feature);
  const EntryAccess entries = entry_access(Layout::blocked, lstm.n, features);
  Access access{};
  at(access, Axis::t).inner = lstm.n * features;
  at(access, Axis::n) = entries.entry;
  at(access, feature) = entries.channel;
  return access;
}

Contraction lstm_contraction(const Lstm& lstm, LstmProduct product) {
  switch (product) {
    case LstmProduct::inputs:
      return forward(lstm, {Axis::t, Axis::n, Axis::k, Axis::g}, Axis::c);
    case LstmProduct::input:
      return forward(lstm, {Axis::n, Axis::k, Axis::g}, Axis::c);
    case LstmProduct::state:
      return forward(lstm, {Axis::n, Axis::k, Axis::g}, Axis::h);
    case LstmProduct::dh:
      return by_data(lstm, {Axis::n, Axis::h}, Axis::h);
    case LstmProduct::dx:
      return by_data(lstm, {Axis::t, Axis::n, Axis::c}, Axis::c);
    case LstmProduct::dw:
      return by_weights(lstm, Axis::c);
    case LstmProduct::dr:
      return by_weights(lstm, Axis::h);
  }
  return {};
}

Contraction lstm_axes(const Lstm& lstm) {
  return with_axes(lstm, {Axis::t, Axis::n, Axis::k, Axis::g}, {Axis::c, Axis::h});
}

}  // namespace loopbrick
