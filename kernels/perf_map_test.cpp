#include "kernels/perf_map.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <system_error>
#include <unistd.h>

#include "kernels/kernel_cache.h"

namespace loopbrick {
namespace {

struct Entry {
  std::uintptr_t start = 0;
  std::size_t bytes = 0;
};

std::map<std::string, Entry> entries_of(const std::filesystem::path& file) {
  std::map<std::string, Entry> entries;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    Entry entry;
    std::string name;
    words >> std::hex >> entry.start >> entry.bytes >> std::ws;
    std::getline(words, name);
    EXPECT_TRUE(entries.emplace(name, entry).second) << "twice: " << line;
  }
  return entries;
}

BrgemmSpec spec_of(int m, Isa isa) {
  return {.isa = isa, .m = m, .n = 16, .k = 4, .a_row_stride = 4, .ldb = 16, .ldc = 16};
}

struct PerfMapFile : testing::Test {
  std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("loopbrick-map-" + std::to_string(getpid()));
  ~PerfMapFile() override { std::filesystem::remove(file); }
};

TEST_F(PerfMapFile, NamesEachKernelOnceWithItsAddressAndSize) {
  if (best_isa() == Isa::ref) GTEST_SKIP() << "this CPU runs no generated code";
  std::ofstream(file) << "1000 10 of an older process\n";
  KernelCache cache;
  PerfMap map(file);
  for (const int m : {1, 2, 1}) map.add(*cache.get(spec_of(m, best_isa())));
  map.add(*cache.get(spec_of(3, Isa::ref)));
  const auto entries = entries_of(file);
  EXPECT_EQ(entries.size(), 2U);
  for (const int m : {1, 2}) {
    const auto kernel = cache.get(spec_of(m, best_isa()));
    const Entry entry = entries.at(to_string(kernel->spec()));
    EXPECT_EQ(entry.start, reinterpret_cast<std::uintptr_t>(kernel->code().data()));
    EXPECT_EQ(entry.bytes, kernel->code().size());
  }
}

TEST_F(PerfMapFile, FollowsNoLink) {
  std::filesystem::create_symlink("/dev/null", file);
  EXPECT_THROW(PerfMap{file}, std::system_error);
}

TEST(PerfMap, IsWherePerfLooks) {
  EXPECT_EQ(PerfMap::default_path(), "/tmp/perf-" + std::to_string(getpid()) + ".map");
}

}  // namespace
}  // namespace loopbrick
