#include "measure/topology.h"

#include <gtest/gtest.h>

#include "measure/machine.h"
#include "measure/recorded_tree.h"
#include "measure/threads.h"

namespace loopbrick {
namespace {

std::string numbers(const std::vector<LogicalCpu>& cpus) {
  std::string text;
  for (const LogicalCpu& cpu : cpus) text += (text.empty() ? "" : " ") + std::to_string(cpu.number);
  return text;
}

std::string order_of(const RecordedTree& tree) {
  return numbers(cores_first(allowed_cpus(tree.root())));
}

/// Two sockets of two cores with two threads each, numbered as most systems do: all cores first.
struct TwoSockets : RecordedTree {
  TwoSockets() {
    write("sys/devices/system/cpu/online", "0-7\n");
    for (int number = 0; number < 8; ++number) write_cpu(number, number % 4 / 2, number % 2);
  }
};

TEST(Topology, SiblingsComeAfterAllCores) {
  const TwoSockets tree;
  EXPECT_EQ(order_of(tree), "0 1 2 3 4 5 6 7");
  EXPECT_EQ(available_threads(tree.root()), 4);
  tree.allow("0,4,1,5");
  EXPECT_EQ(order_of(tree), "0 1 4 5");
  EXPECT_EQ(available_threads(tree.root()), 2);
}

TEST(Topology, OneSocketIsFilledBeforeTheNext) {
  const RecordedTree tree;  // even numbers on the first socket, odd ones on the second
  tree.write("sys/devices/system/cpu/online", "0-7\n");
  for (int number = 0; number < 8; ++number) tree.write_cpu(number, number % 2, number % 4 / 2);
  EXPECT_EQ(order_of(tree), "0 2 1 3 4 6 5 7");
  EXPECT_EQ(detect_machine(tree.root()).cores, 4);
  EXPECT_EQ(detect_machine(tree.root()).sockets, 2);
}

TEST(Topology, CpusThatAreOfflineAreLeftOut) {
  const RecordedTree tree;  // an offline CPU keeps its folder and loses its topology
  tree.write("sys/devices/system/cpu/online", "1-2,4-5,7\n");
  for (const int number : {1, 2, 4, 5, 7}) tree.write_cpu(number, 0, number % 4);
  tree.write("sys/devices/system/cpu/cpu3/online", "0\n");
  tree.write_cache(1, 2, "2", "Unified", "512K");
  tree.allow("0-7");  // the mask still has them
  EXPECT_EQ(order_of(tree), "1 2 4 7 5");
  EXPECT_EQ(available_threads(tree.root()), 4);
  EXPECT_EQ(detect_machine(tree.root()).threads, 5);
  EXPECT_EQ(detect_machine(tree.root()).l2_bytes, 512 * 1024);  // though CPU 0 is offline
}

/// Four big cores with two threads each and four small ones without, as Intel numbers them.
struct Hybrid : RecordedTree {
  Hybrid() {
    write("sys/devices/system/cpu/online", "0-11\n");
    for (int number = 0; number < 8; ++number) write_cpu(number, 0, number / 2 * 4);
    for (int number = 8; number < 12; ++number) write_cpu(number, 0, 16 + number);
    write_cache(0, 2, "2", "Unified", "1280K");
    write_cache(8, 2, "2", "Unified", "2048K");
  }
  void write_all(const std::string& file, const std::string& big, const std::string& small) const {
    for (int number = 0; number < 12; ++number) {
      write("sys/devices/system/cpu/cpu" + std::to_string(number) + "/" + file,
            number < 8 ? big : small);
    }
  }
  void list_kinds() const {
    write("sys/devices/cpu_core/cpus", "0-7\n");
    write("sys/devices/cpu_atom/cpus", "8-11\n");
  }
};

void expect_four_big_cores(const Hybrid& tree) {
  EXPECT_EQ(available_threads(tree.root()), 4);
  EXPECT_EQ(order_of(tree), "0 2 4 6 8 9 10 11 1 3 5 7");
}

TEST(Topology, KindsOfCoresByIntelsList) {
  const Hybrid tree;
  EXPECT_EQ(available_threads(tree.root()), 8);  // nothing tells them apart yet
  tree.list_kinds();
  expect_four_big_cores(tree);
}

TEST(Topology, KindsOfCoresByCapacity) {
  const Hybrid tree;
  tree.write_all("cpu_capacity", "1024\n", "623\n");
  expect_four_big_cores(tree);
}

TEST(Topology, KindsOfCoresByFrequency) {
  const Hybrid tree;
  tree.write_all("cpufreq/cpuinfo_max_freq", "4900000\n", "3600000\n");
  expect_four_big_cores(tree);
}

TEST(Topology, AFavouredCoreIsNoKindOfItsOwn) {
  const Hybrid tree;
  tree.write_all("cpufreq/cpuinfo_max_freq", "5000000\n", "4700000\n");
  EXPECT_EQ(available_threads(tree.root()), 8);
}

TEST(Topology, WhereOnlySmallCoresAreAllowedTheyAreUsed) {
  const Hybrid tree;
  tree.list_kinds();
  tree.allow("6-9");  // one big core
  EXPECT_EQ(available_threads(tree.root()), 1);
  tree.allow("9-11");
  EXPECT_EQ(available_threads(tree.root()), 3);
}

TEST(Topology, AQuotaLimitsTheBigCores) {
  const Hybrid tree;
  tree.list_kinds();
  tree.write("proc/self/cgroup", "0::/\n");
  tree.write("sys/fs/cgroup/cpu.max", "300000 100000\n");
  EXPECT_EQ(available_threads(tree.root()), 3);
  tree.write("sys/fs/cgroup/cpu.max", "900000 100000\n");
  EXPECT_EQ(available_threads(tree.root()), 4);
}

TEST(Topology, CachesAreThoseOfABigCore) {
  const Hybrid tree;
  tree.write("sys/devices/cpu_core/cpus", "8-11\n");  // numbered the other way round
  EXPECT_EQ(detect_machine(tree.root()).l2_bytes, 2048 * 1024);
}

TEST(Topology, WithoutSysAndProcThereIsAtLeastOneCore) {
  const RecordedTree tree;
  const std::vector<LogicalCpu> cpus = cores_first(allowed_cpus(tree.root()));
  ASSERT_FALSE(cpus.empty());
  for (const LogicalCpu& cpu : cpus) EXPECT_FALSE(cpu.is_small);
  EXPECT_GE(available_threads(tree.root()), 1);
}

}  // namespace
}  // namespace loopbrick
