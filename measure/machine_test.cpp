#include "measure/machine.h"

#include <gtest/gtest.h>

#include "measure/cpuid.h"
#include "measure/quota.h"
#include "measure/recorded_tree.h"
#include "measure/trust.h"

namespace loopbrick {
namespace {

std::string cpuinfo_record(int number, int package, int core, const std::string& flags) {
  return "processor\t: " + std::to_string(number) +
         "\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
         "model name\t: Intel(R) Xeon(R) Gold 6154 CPU @ 3.00GHz\nphysical id\t: " +
         std::to_string(package) + "\ncore id\t\t: " + std::to_string(core) +
         "\nflags\t\t: fpu avx2 " + flags + "\n\n";
}

/// Two sockets of two cores with two threads each; siblings are n and n + 4.
struct TwoSockets : RecordedTree {
  TwoSockets() {
    write("sys/devices/system/cpu/online", "0-7\n");
    std::string cpuinfo;
    for (int number = 0; number < 8; ++number) {
      const int package = number % 4 / 2;
      const int core = number % 2;
      write_cpu(number, package, core);
      cpuinfo += cpuinfo_record(number, package, core, "");
    }
    write("proc/cpuinfo", cpuinfo);
    write("proc/meminfo", "MemTotal:       2048 kB\nMemFree:  1 kB\nMemAvailable:   1024 kB\n");
    write_cache(0, 0, "1", "Data", "32K");
    write_cache(0, 1, "1", "Instruction", "64K");
    write_cache(0, 2, "2", "Unified", "1024K");
    write_cache(0, 3, "3", "Unified", "25344K");
  }
};

TEST(Machine, ReadsCoresSocketsAndCachesFromSys) {
  const TwoSockets tree;
  const Machine machine = detect_machine(tree.root());
  EXPECT_EQ(machine.cpu, "Intel(R) Xeon(R) Gold 6154 CPU @ 3.00GHz family 6 model 85");
  EXPECT_EQ(machine.cores, 4);
  EXPECT_EQ(machine.threads, 8);
  EXPECT_EQ(machine.sockets, 2);
  EXPECT_EQ(machine.l1d_bytes, 32 * 1024);
  EXPECT_EQ(machine.l2_bytes, 1024 * 1024);
  EXPECT_EQ(machine.l3_bytes, 25344 * 1024);
  EXPECT_EQ(machine.memory_bytes, 2048 * 1024);
  EXPECT_EQ(machine.isa, best_isa());
}

TEST(Machine, IdHoldsStableFactsOnly) {
  const TwoSockets tree;
  EXPECT_EQ(detect_machine(tree.root()).id, "intel-xeon-gold-6154-f6m85 4c2s l2-1024k l3-25344k " +
                                                std::string(to_string(best_isa())));
}

TEST(Machine, WithoutSysItAsksCpuinfoAndCpuid) {
  const RecordedTree tree;
  tree.write("proc/cpuinfo", cpuinfo_record(0, 0, 0, "") + cpuinfo_record(1, 0, 0, "") +
                                 cpuinfo_record(2, 0, 1, "") + cpuinfo_record(3, 0, 1, ""));
  const Machine machine = detect_machine(tree.root());
  EXPECT_EQ(machine.cores, 2);
  EXPECT_EQ(machine.threads, 4);
  EXPECT_EQ(machine.sockets, 1);
  EXPECT_EQ(machine.l2_bytes, cpuid_caches().l2_bytes);
}

TEST(Machine, WithoutAnyFileThereIsStillAMachine) {
  const RecordedTree tree;
  const Machine machine = detect_machine(tree.root());
  EXPECT_GE(machine.cores, 1);
  EXPECT_GE(machine.threads, machine.cores);
  EXPECT_EQ(machine.sockets, 1);
  EXPECT_GT(machine.memory_bytes, 0);
  EXPECT_NE(machine.id, "");
  EXPECT_GE(available_threads(tree.root()), 1);
}

TEST(Machine, TheRealOneHasTheSameIdTwice) {
  EXPECT_EQ(detect_machine().id, detect_machine().id);
  EXPECT_LE(available_threads(), detect_machine().cores);
}

TEST(AvailableThreads, CountsOneForEachCore) {
  const TwoSockets tree;
  tree.allow("0-7");
  EXPECT_EQ(available_threads(tree.root()), 4);
}

TEST(AvailableThreads, FollowsTheAffinityMask) {
  const TwoSockets tree;
  tree.allow("1,3,5");  // 1 and 5 are siblings
  EXPECT_EQ(available_threads(tree.root()), 2);
}

TEST(AvailableThreads, QuotaOfVersion2IsRoundedDown) {
  const TwoSockets tree;
  tree.allow("0-7");
  tree.write("proc/self/cgroup", "0::/user/session\n");
  tree.write("sys/fs/cgroup/user/session/cpu.max", "max 100000\n");
  tree.write("sys/fs/cgroup/user/cpu.max", "150000 100000\n");  // the parent's limit counts
  ASSERT_TRUE(cpu_quota(tree.root()).has_value());
  EXPECT_DOUBLE_EQ(*cpu_quota(tree.root()), 1.5);
  EXPECT_EQ(available_threads(tree.root()), 1);
}

TEST(AvailableThreads, QuotaOfLessThanOneCpuLeavesOneThread) {
  const TwoSockets tree;
  tree.write("proc/self/cgroup", "0::/\n");
  tree.write("sys/fs/cgroup/cpu.max", "20000 100000\n");
  EXPECT_EQ(available_threads(tree.root()), 1);
}

TEST(AvailableThreads, QuotaOfVersion1) {
  const TwoSockets tree;
  tree.write("proc/self/cgroup", "7:memory:/\n4:cpu,cpuacct:/docker/1234\n0::/\n");
  tree.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "300000\n");  // a container's own root
  tree.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(available_threads(tree.root()), 3);
  tree.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  EXPECT_FALSE(cpu_quota(tree.root()).has_value());
}

TEST(AvailableMemory, IsTheLeastOfSystemAndGroups) {
  const TwoSockets tree;
  EXPECT_EQ(available_memory(tree.root()), 1024 * 1024);
  tree.write("proc/self/cgroup", "0::/job\n");
  tree.write("sys/fs/cgroup/job/memory.max", "500000\n");
  tree.write("sys/fs/cgroup/job/memory.current", "300000\n");
  tree.write("sys/fs/cgroup/job/memory.stat", "anon 200000\ninactive_file 50000\n");
  EXPECT_EQ(available_memory(tree.root()), 250000);
  tree.write("sys/fs/cgroup/job/memory.max", "max\n");
  EXPECT_EQ(available_memory(tree.root()), 1024 * 1024);
}

/// Four idle cores, nothing to complain about.
struct QuietMachine : RecordedTree {
  QuietMachine() {
    std::string cpuinfo;
    for (int number = 0; number < 4; ++number) cpuinfo += cpuinfo_record(number, 0, number, "");
    write("proc/cpuinfo", cpuinfo);
    write("proc/loadavg", "0.08 0.10 0.09 1/100 1234\n");
  }
  Trust assessed(const Limits& limits) const {
    return assess(detect_machine(root()), limits, root());
  }
};

TEST(Trust, AQuietMachineGetsAnA) {
  const QuietMachine tree;
  const Trust trust = tree.assessed({.threads = 4, .noise_floor = 0.004});
  EXPECT_EQ(trust.grade, 'A');
  EXPECT_TRUE(trust.warnings.empty());
}

/// The single warning of a grade.
void expect_warning(const Trust& trust, char grade, const std::string& piece) {
  EXPECT_EQ(trust.grade, grade);
  ASSERT_EQ(trust.warnings.size(), 1U);
  EXPECT_NE(trust.warnings[0].find(piece), std::string::npos) << trust.warnings[0];
}

TEST(Trust, LoadIsSeen) {
  const QuietMachine tree;
  tree.write("proc/loadavg", "1.50 0.10 0.09 2/100 1234\n");
  expect_warning(tree.assessed({.threads = 4}), 'B', "load average 1.50");
  tree.write("proc/loadavg", "4.50 0.10 0.09 6/100 1234\n");
  expect_warning(tree.assessed({.threads = 4}), 'C', "load average 4.50");
}

TEST(Trust, ABusyCoreIsSeenBeforeTheLoadAverageKnowsIt) {
  const QuietMachine tree;
  EXPECT_EQ(tree.assessed({.threads = 4, .other_cpus = 0.05}).grade, 'A');
  expect_warning(tree.assessed({.threads = 4, .other_cpus = 0.2}), 'B', "0.20 CPUs");
  expect_warning(tree.assessed({.threads = 4, .other_cpus = 0.97}), 'C', "0.97 CPUs");
}

TEST(Trust, AnAverageThatRemembersOurLastRunIsNoLoad) {
  const QuietMachine tree;
  tree.write("proc/loadavg", "1.90 0.10 0.09 1/100 1234\n");
  EXPECT_EQ(tree.assessed({.threads = 4}).grade, 'A');
}

TEST(Trust, GovernorIsSeen) {
  const QuietMachine tree;
  const std::string file = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
  tree.write(file, "powersave\n");
  expect_warning(tree.assessed({.threads = 4}), 'B', "'powersave'");
  tree.write(file, "performance\n");
  EXPECT_EQ(tree.assessed({.threads = 4}).grade, 'A');
}

TEST(Trust, VirtualMachineIsSeen) {
  const QuietMachine tree;
  std::string cpuinfo;
  for (int number = 0; number < 4; ++number) {
    cpuinfo += cpuinfo_record(number, 0, number, "hypervisor lahf_lm");
  }
  tree.write("proc/cpuinfo", cpuinfo);
  expect_warning(tree.assessed({.threads = 4}), 'B', "virtual machine");
}

TEST(Trust, SiblingsAreSeen) {
  const TwoSockets tree;
  expect_warning(assess(detect_machine(tree.root()), {.threads = 2}, tree.root()), 'B', "SMT");
}

TEST(Trust, ThreadsOnTwoSocketsAreSeen) {
  const QuietMachine tree;
  tree.write("sys/devices/system/cpu/online", "0-3\n");
  for (int number = 0; number < 4; ++number) tree.write_cpu(number, number / 2, number % 2);
  EXPECT_EQ(tree.assessed({.threads = 2}).grade, 'A');
  expect_warning(tree.assessed({.threads = 3}), 'B', "2 sockets");
}

TEST(Trust, QuotaIsSeen) {
  const QuietMachine tree;
  tree.write("proc/self/cgroup", "0::/\n");
  tree.write("sys/fs/cgroup/cpu.max", "250000 100000\n");
  expect_warning(tree.assessed({.threads = 2}), 'B', "above 2.5 CPUs");
}

TEST(Trust, MoreThreadsThanCoresGetAC) {
  const QuietMachine tree;
  expect_warning(tree.assessed({.threads = 5}), 'C', "5 threads share 4 available cores");
}

TEST(Trust, NoiseIsSeen) {
  const QuietMachine tree;
  expect_warning(tree.assessed({.threads = 4, .noise_floor = 0.02}), 'B', "2.0 %");
  expect_warning(tree.assessed({.threads = 4, .noise_floor = 0.05}), 'C', "5.0 %");
}

}  // namespace
}  // namespace loopbrick
