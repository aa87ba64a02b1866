#include "tuner/loop_orders.h"

#include <gtest/gtest.h>

#include <set>

namespace loopbrick {
namespace {

constexpr Slots kAll = 0x7F;

std::string projected(const LoopOrders& orders, int i, Slots many) {
  std::string text;
  for (const Slot slot : orders[i]) {
    if (has(many, slot)) text += std::string(to_string(slot)) + " ";
  }
  return text;
}

TEST(LoopOrders, KeepBlocksOutsideOfTheirParts) {
  const LoopOrders& orders = LoopOrders::all();
  EXPECT_EQ(orders.size(), 420);
  std::set<std::string> texts;
  for (int i = 0; i < orders.size(); ++i) {
    const std::string text = " " + orders.text(i) + " ";
    texts.insert(text);
    EXPECT_LT(text.find(" kb "), text.find(" k "));
    EXPECT_LT(text.find(" pb "), text.find(" p "));
    EXPECT_LT(text.find(" p "), text.find(" q "));
  }
  EXPECT_EQ(texts.size(), 420U);
}

TEST(LoopOrders, OneOrderStandsForThoseThatMeanTheSame) {
  const LoopOrders& orders = LoopOrders::all();
  for (int many = 0; many <= kAll; ++many) {
    std::set<std::string> all;
    std::set<std::string> kept;
    int canonical = 0;
    for (int i = 0; i < orders.size(); ++i) {
      const std::string text = projected(orders, i, static_cast<Slots>(many));
      all.insert(text);
      if (!orders.is_canonical(i, static_cast<Slots>(many))) continue;
      kept.insert(text);
      ++canonical;
    }
    EXPECT_EQ(kept, all);
    EXPECT_EQ(static_cast<std::size_t>(canonical), kept.size());
  }
}

TEST(LoopOrders, SharedLoopsFollowEachOtherAcrossThoseOfOneRound) {
  const LoopOrders& orders = LoopOrders::all();
  int i = 0;
  while (orders.text(i) != "n kb k pb p q c") ++i;
  const Slots n = bit(Slot::n);
  const Slots k = bit(Slot::k);
  const Slots p = bit(Slot::p);
  EXPECT_TRUE(orders.are_together(i, static_cast<Slots>(n | k | p), static_cast<Slots>(n | k)));
  EXPECT_TRUE(orders.are_together(i, static_cast<Slots>(n | p), static_cast<Slots>(n | p)));
  EXPECT_FALSE(orders.are_together(i, static_cast<Slots>(n | k | p), static_cast<Slots>(n | p)));
  EXPECT_TRUE(orders.are_together(i, kAll, p));
}

}  // namespace
}  // namespace loopbrick
