#include "measure/counters.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <linux/perf_event.h>
#include <omp.h>
#include <sys/mman.h>
#include <unistd.h>

#include "measure/cpuid.h"

namespace loopbrick {
namespace {

// Page faults are counted by the kernel itself: they can be counted where the hardware can't.
const CounterEvent kFaults{"faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS};
const CounterEvent kNothing{"nothing", UINT32_MAX, 0};

/// Each thread writes to this many fresh pages.
void touch_pages(int threads, int pages) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
#pragma omp parallel num_threads(threads)
  {
    const std::size_t bytes = page * static_cast<std::size_t>(pages);
    void* const at =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(at, bytes, MADV_NOHUGEPAGE);
    for (std::size_t i = 0; i < bytes; i += page) static_cast<volatile char*>(at)[i] = 1;
    munmap(at, bytes);
  }
}

TEST(Counters, AddUpAllThreads) {
  touch_pages(3, 1);  // the threads are there
  Counters counters(std::array{kFaults});
  touch_pages(3, 1000);
  counters.start();
  touch_pages(3, 100);
  const std::vector<Reading> readings = counters.stop();
  ASSERT_EQ(readings.size(), 1U);
  if (!readings[0].count) GTEST_SKIP() << readings[0].reason;
  EXPECT_GE(*readings[0].count, 300.0);
  EXPECT_LT(*readings[0].count, 600.0);
}

TEST(Counters, WhatCannotBeCountedHasAReason) {
  Counters counters(std::array{kNothing, kFaults});
  counters.start();
  const std::vector<Reading> readings = counters.stop();
  ASSERT_EQ(readings.size(), 2U);
  EXPECT_EQ(readings[0].name, "nothing");
  EXPECT_FALSE(readings[0].count);
  EXPECT_TRUE(readings[0].reason.starts_with("not available: ")) << readings[0].reason;
  EXPECT_EQ(readings[1].name, "faults");
}

TEST(Counters, OfHardwareGiveANumberOrAReason) {
  const std::vector<CounterEvent> events = hardware_events();
  ASSERT_EQ(events.size(), 6U);
  Counters counters(events);
  counters.start();
  touch_pages(1, 100);
  for (const Reading& reading : counters.stop()) {
    EXPECT_NE(reading.count.has_value(), !reading.reason.empty()) << reading.name;
  }
}

TEST(Counters, VendorIsKnown) { EXPECT_EQ(cpuid_vendor().size(), 12U); }

}  // namespace
}  // namespace loopbrick
