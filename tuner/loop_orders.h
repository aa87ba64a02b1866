#pragma once
#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace loopbrick {

/// The loops that a convolution's nest may have: images, blocks of k, pieces of p, the call's own
/// steps, the sum.
enum class Slot : std::uint8_t { n, k_outer, k, p_outer, p, q, c };

inline constexpr int kSlots = 7;

/// A set of slots, one bit each.
using Slots = std::uint8_t;
constexpr Slots bit(Slot slot) { return static_cast<Slots>(1U << static_cast<unsigned>(slot)); }

constexpr bool has(Slots slots, Slot slot) { return (slots & bit(slot)) != 0; }

/// The loops over k.
inline constexpr Slots kColumnSlots = bit(Slot::k_outer) | bit(Slot::k);

/// "n", "k" (a block: "kb"), "pb" ...
std::string_view to_string(Slot slot);

/// All orders of the seven loops in which a block stands outside of its own parts, and rows outside
/// of pixels.
///
/// A loop of one round has no place: of the orders that differ only there, one is canonical.
class LoopOrders {
 public:
  using Order = std::array<Slot, kSlots>;

  LoopOrders();

  static const LoopOrders& all();  ///< made once

  int size() const { return static_cast<int>(orders_.size()); }
  const Order& operator[](int i) const { return orders_[static_cast<std::size_t>(i)]; }
  std::string text(int i) const;

  /// Whether order i is the one that is kept when only the loops in `many` have several rounds.
  bool is_canonical(int i, Slots many) const {
    return canonical_[many][static_cast<std::size_t>(i)];
  }

  /// Whether the loops in `shared` follow each other in order i when only those in `many` have
  /// several rounds.
  bool are_together(int i, Slots many, Slots shared) const;

 private:
  static constexpr int kMost = 420;

  std::vector<Order> orders_;
  std::array<std::bitset<kMost>, 1 << kSlots> canonical_;
};

}  // namespace loopbrick
