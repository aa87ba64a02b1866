#include "tuner/loop_orders.h"

#include <algorithm>
#include <cassert>
#include <unordered_set>

namespace loopbrick {

namespace {

using Order = LoopOrders::Order;

bool stands_before(const Order& order, Slot first, Slot second) {
  return std::find(order.begin(), order.end(), first) <
         std::find(order.begin(), order.end(), second);
}

bool is_sensible(const Order& order) {
  return stands_before(order, Slot::k_outer, Slot::k) &&
         stands_before(order, Slot::p_outer, Slot::p) && stands_before(order, Slot::p, Slot::q);
}

/// The order of the loops in `many` as one number.
std::uint32_t projected(const Order& order, Slots many) {
  std::uint32_t kept = 0;
  for (const Slot slot : order) {
    if ((many & bit(slot)) != 0) kept = kept * 8 + static_cast<std::uint32_t>(slot) + 1;
  }
  return kept;
}

}  // namespace

std::string_view to_string(Slot slot) {
  constexpr std::array<std::string_view, kSlots> kNames{"n", "kb", "k", "pb", "p", "q", "c"};
  return kNames[static_cast<std::size_t>(slot)];
}

LoopOrders::LoopOrders() {
  Order order{Slot::n, Slot::k_outer, Slot::k, Slot::p_outer, Slot::p, Slot::q, Slot::c};
  do {
    if (is_sensible(order)) orders_.push_back(order);
  } while (std::next_permutation(order.begin(), order.end()));
  assert(size() == kMost);
  for (std::size_t many = 0; many < canonical_.size(); ++many) {
    std::unordered_set<std::uint32_t> met;
    for (std::size_t i = 0; i < orders_.size(); ++i) {
      canonical_[many][i] = met.insert(projected(orders_[i], static_cast<Slots>(many))).second;
    }
  }
}

const LoopOrders& LoopOrders::all() {
  static const LoopOrders orders;
  return orders;
}

std::string LoopOrders::text(int i) const {
  std::string text;
  for (const Slot slot : (*this)[i]) {
    if (!text.empty()) text += " ";
    text += to_string(slot);
  }
  return text;
}

bool LoopOrders::are_together(int i, Slots many, Slots shared) const {
  Slots left = shared;
  for (const Slot slot : (*this)[i]) {
    if ((many & bit(slot)) == 0) continue;
    const bool is_shared = (shared & bit(slot)) != 0;
    if (is_shared) left = static_cast<Slots>(left & ~bit(slot));
    if (left == 0) return true;
    if (!is_shared && left != shared) return false;
  }
  return left == 0;
}

}  // namespace loopbrick
