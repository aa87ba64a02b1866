#include "kernels/kernel_cache.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace loopbrick {
namespace {

BrgemmSpec spec_of(int m, Isa isa = best_isa()) {
  BrgemmSpec spec;
  spec.isa = isa;
  spec.m = m;
  spec.n = 16;
  spec.k = 4;
  spec.a_row_stride = 4;
  spec.ldb = 16;
  spec.ldc = 16;
  return spec;
}

TEST(KernelCache, MakesEachKernelOnce) {
  KernelCache cache;
  const auto first = cache.get(spec_of(3));
  EXPECT_EQ(cache.get(spec_of(3)), first);
  EXPECT_NE(cache.get(spec_of(4)), first);
  EXPECT_EQ(cache.size(), 2);
  EXPECT_EQ(first->spec(), spec_of(3));
}

TEST(KernelCache, KeepsNothingOfASpecThatCannotBe) {
  KernelCache cache;
  EXPECT_THROW(cache.get(spec_of(0)), std::invalid_argument);
  EXPECT_EQ(cache.size(), 0);
}

TEST(KernelCache, KernelsOutliveTheCache) {
  std::shared_ptr<const BrgemmKernel> kernel;
  {
    KernelCache cache;
    kernel = cache.get(spec_of(1));
  }
  const std::vector<float> ones(64, 1.0F);
  std::vector<float> c(16);
  const BatchOffset origin;
  const std::int64_t count = 1;
  (*kernel)({.a = ones.data(), .b = ones.data(), .c = c.data(), .list = &origin, .counts = &count});
  EXPECT_EQ(c, std::vector<float>(16, 4.0F));
}

TEST(KernelCache, ManyThreadsGetTheSameKernels) {
  KernelCache cache;
  std::vector<std::vector<const BrgemmKernel*>> seen(4);
  {
    std::vector<std::jthread> threads;
    for (auto& mine : seen) {
      threads.emplace_back([&cache, &mine] {
        for (int m = 1; m <= 20; ++m) mine.push_back(cache.get(spec_of(m)).get());
      });
    }
  }
  for (const auto& mine : seen) EXPECT_EQ(mine, seen[0]);
  EXPECT_EQ(cache.size(), 20);
}

}  // namespace
}  // namespace loopbrick
