#include "measure/threads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <omp.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "measure/probes.h"
#include "measure/recorded_tree.h"
#include "measure/surroundings.h"
#include "measure/topology.h"

namespace loopbrick {
namespace {

/// Half of the smallest normal float, computed by each thread: 0 where denormals are flushed.
std::vector<float> halves(int threads) {
  std::vector<float> all(static_cast<std::size_t>(threads));
#pragma omp parallel num_threads(threads)
  {
    volatile float value = 1.17549435e-38F;
    value = value * 0.5F;
    all[static_cast<std::size_t>(omp_get_thread_num())] = value;
  }
  return all;
}

TEST(FlushDenormals, ReachesEveryThread) {
  for (const int threads : {1, 2, 4}) {
    set_flush_denormals(threads, true);
    for (const float half : halves(threads)) EXPECT_EQ(half, 0.0F) << threads << " threads";
    set_flush_denormals(threads, false);
    for (const float half : halves(threads)) EXPECT_GT(half, 0.0F) << threads << " threads";
  }
}

TEST(PinnedThreads, SitOnOneCpuEachAndAreFreedAgain) {
  const std::string before = pinning(2);
  const std::vector<LogicalCpu> cpus = cores_first(allowed_cpus());
  const int first = cpus[0].number;
  const int second = cpus[1 % cpus.size()].number;
  {
    const PinnedThreads pinned(2);
    EXPECT_EQ(pinning(2), std::to_string(first) + " " + std::to_string(second));
  }
  EXPECT_EQ(pinning(2), before);
}

bool has(const std::vector<std::string>& settings, const std::string& setting) {
  return std::find(settings.begin(), settings.end(), setting) != settings.end();
}

TEST(OpenmpEnvironment, NamesOnePlaceForEachThread) {
  const RecordedTree tree;  // 0 and 1 are siblings, 2 and 3 too
  tree.write("sys/devices/system/cpu/online", "0-3\n");
  for (const int cpu : {0, 1, 2, 3}) tree.write_cpu(cpu, 0, cpu / 2);
  const std::vector<std::string> two = openmp_environment(2, tree.root());
  EXPECT_TRUE(has(two, "OMP_NUM_THREADS=2"));
  EXPECT_TRUE(has(two, "OMP_PROC_BIND=close"));
  EXPECT_TRUE(has(two, "OMP_PLACES={0},{2}"));
  EXPECT_TRUE(has(openmp_environment(3, tree.root()), "OMP_PLACES={0},{2},{1}"));
  EXPECT_TRUE(has(openmp_environment(9, tree.root()), "OMP_PLACES={0},{2},{1},{3}"));
}

/// What a probe says is compared with what cannot be, not with a time.
TEST(Probes, GiveNumbersOfTheRightKind) {
  for (const Isa isa : {Isa::ref, Isa::avx2, Isa::avx512}) {
    if (isa > best_isa()) continue;
    EXPECT_GT(peak_probe(2, isa, 1e-3), 0.0);
    EXPECT_GT(read_bandwidth_probe(2, isa, 10'000, 1e-3), 0.0);
  }
  EXPECT_GT(clock_probe(1e-3), 0.0);
}

TEST(Probes, LimitsHaveNoGaps) {
  const Machine machine{.id = "small",
                        .cpu = "small",
                        .l1d_bytes = 32 << 10,
                        .l2_bytes = 256 << 10,
                        .l3_bytes = 1 << 20};
  const Limits limits = measure_limits(machine, 2, Isa::ref);
  EXPECT_EQ(limits.threads, 2);
  EXPECT_EQ(limits.isa, Isa::ref);
  for (const double value :
       {limits.peak_flops, limits.clock_hz, limits.l1_bandwidth, limits.l2_bandwidth,
        limits.l3_bandwidth, limits.dram_bandwidth, limits.barrier_seconds, limits.fork_seconds}) {
    EXPECT_GT(value, 0.0);
  }
  EXPECT_GE(limits.noise_floor, 0.0);
}

TEST(Surroundings, NameWhatChangesFromRunToRun) {
  const RecordedTree tree;
  tree.write("proc/loadavg", "0.25 0.10 0.09 1/100 1234\n");
  tree.write("proc/stat", "cpu  1 2 3 4 5 6 7 850 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n");
  tree.write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  tree.write("proc/self/smaps_rollup", "Rss:  10 kB\nAnonHugePages:      2048 kB\n");
  Disturbances before = disturbances(tree.root());
  EXPECT_EQ(before.stolen_ticks, 850);
  before.stolen_ticks -= 125;
  const std::string text = surroundings(before, 1, tree.root());
  for (const char* const piece : {"pin=", " load=0.25 ", " steal=1.25s ", " switches=", "GHz ",
                                  " thp=madvise ", " huge=2048k"}) {
    EXPECT_NE(text.find(piece), std::string::npos) << piece << " in " << text;
  }
}

TEST(OtherCpus, AreWhatIsBusyWithoutUs) {
  const RecordedTree tree;
  tree.write("proc/stat", "cpu  100 20 30 4000 50 60 70 80 9 10\n");
  const Disturbances before = disturbances(tree.root());
  EXPECT_DOUBLE_EQ(before.busy_seconds * static_cast<double>(sysconf(_SC_CLK_TCK)), 150.0);
  Disturbances after = before;
  after.busy_seconds += 3.5;
  after.own_seconds += 2.0;
  EXPECT_DOUBLE_EQ(other_cpus(before, after, 2.0), 0.75);
  after.own_seconds += 9.0;  // rounding of the ticks
  EXPECT_EQ(other_cpus(before, after, 2.0), 0.0);
}

/// A process that computes until the end of the test.
struct BusyProcess {
  pid_t process = fork();
  BusyProcess() {
    while (process == 0) {
    }
  }
  ~BusyProcess() {
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  }
};

TEST(OtherCpus, ABusyProcessIsSeen) {
  const BusyProcess busy;
  const Disturbances before = disturbances();
  const auto start = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  EXPECT_GT(other_cpus(before, disturbances(), passed.count()), 0.5);
}

TEST(TransparentHugePages, AreTheWordInBrackets) {
  const RecordedTree tree;
  EXPECT_EQ(transparent_huge_pages(tree.root()), "?");
  for (const auto& [text, word] : {std::pair("[always] madvise never\n", "always"),
                                   std::pair("always [madvise] never\n", "madvise"),
                                   std::pair("always madvise [never]\n", "never")}) {
    tree.write("sys/kernel/mm/transparent_hugepage/enabled", text);
    EXPECT_EQ(transparent_huge_pages(tree.root()), word);
  }
}

}  // namespace
}  // namespace loopbrick
