#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <fstream>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "kernels/brgemm_kernel.h"
#include "tests/brgemm_trial.h"

namespace loopbrick {
namespace {

BrgemmSpec spec_of(int m, int n, int k) {
  BrgemmSpec spec;
  spec.isa = best_isa();
  spec.m = m;
  spec.n = n;
  spec.k = k;
  spec.a_row_stride = k;
  spec.ldb = n;
  spec.ldc = n;
  return spec;
}

/// One line of /proc/self/maps.
struct Mapping {
  std::uintptr_t first = 0;
  std::uintptr_t last = 0;
  std::string access;

  bool holds(const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at >= first && at < last;
  }
};

std::vector<Mapping> mappings() {
  std::ifstream maps("/proc/self/maps");
  std::vector<Mapping> all;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    Mapping mapping;
    char dash = 0;
    words >> std::hex >> mapping.first >> dash >> mapping.last >> mapping.access;
    all.push_back(mapping);
  }
  return all;
}

TEST(CodePages, AreNeverWritableAndExecutableAtOnce) {
  if (best_isa() == Isa::ref) GTEST_SKIP() << "needs avx2";
  const BrgemmKernel small(spec_of(6, 64, 64));
  const BrgemmKernel large(spec_of(66, 200, 31));  // outgrows the generator's first buffer
  int pages_of_code = 0;
  for (const Mapping& mapping : mappings()) {
    EXPECT_FALSE(mapping.access[1] == 'w' && mapping.access[2] == 'x') << mapping.access;
    for (const BrgemmKernel* kernel : {&small, &large}) {
      if (!mapping.holds(kernel->code().data())) continue;
      EXPECT_EQ(mapping.access.substr(0, 3), "r-x");
      ++pages_of_code;
    }
  }
  EXPECT_EQ(pages_of_code, 2);
}

/// From now on no page of this process becomes executable: the filter that systemd installs for
/// MemoryDenyWriteExecute, in short.
bool deny_executable_pages() {
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{.len = std::size(steps), .filter = steps};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

enum Outcome { kRefusedWithASentence, kGranted, kOtherSentence, kNoFilter };

Outcome generate_where_no_page_becomes_executable() {
  if (!deny_executable_pages()) return kNoFilter;
  try {
    const BrgemmKernel kernel(spec_of(6, 64, 64));
    return kGranted;
  } catch (const std::runtime_error& error) {
    const bool named =
        std::string_view(error.what()).find("grants no executable pages") != std::string_view::npos;
    return named ? kRefusedWithASentence : kOtherSentence;
  }
}

/// In a process of its own: the filter cannot be taken back.
TEST(CodePages, ARefusalOfTheSystemIsASentence) {
  if (best_isa() == Isa::ref) GTEST_SKIP() << "needs avx2";
  const pid_t child = fork();
  if (child == 0) _exit(generate_where_no_page_becomes_executable());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoFilter) GTEST_SKIP() << "needs seccomp filters";
  EXPECT_EQ(WEXITSTATUS(status), kRefusedWithASentence);
}

TEST(CodePages, TheSameSpecMakesTheSameBytes) {
  if (best_isa() == Isa::ref) GTEST_SKIP() << "needs avx2";
  const BrgemmKernel one(spec_of(17, 70, 33));
  const BrgemmKernel other(spec_of(17, 70, 33));
  ASSERT_EQ(one.code().size(), other.code().size());
  EXPECT_TRUE(std::equal(one.code().begin(), one.code().end(), other.code().begin()));
}

/// Adds one for every wrong element.
void run_batch(int extent, std::int64_t count, int& failures) {
  BrgemmSpec spec = spec_of(extent, extent, extent);
  spec.a_row_stride = 1;
  spec.a_k_stride = extent;
  const BrgemmKernel kernel(spec);
  const auto elements = static_cast<std::size_t>(extent * extent);
  const std::vector<float> ones(elements, 1.0F);
  std::vector<float> c(elements);
  const std::vector<BatchOffset> list(static_cast<std::size_t>(count));
  kernel(
      {.a = ones.data(), .b = ones.data(), .c = c.data(), .list = list.data(), .counts = &count});
  const float wanted = static_cast<float>(extent) * static_cast<float>(count);
  for (const float value : c) failures += value != wanted;
}

/// A lies transposed.
void* run_batches(void* failures) {
  for (const std::int64_t count : {1, 2, 17}) run_batch(100, count, *static_cast<int*>(failures));
  run_batch(10, 1000, *static_cast<int*>(failures));
  return nullptr;
}

TEST(CodePages, ASmallStackIsEnoughForAnyBatch) {
  pthread_attr_t small_stack;
  pthread_attr_init(&small_stack);
  ASSERT_EQ(pthread_attr_setstacksize(&small_stack, 128 * 1024), 0);
  pthread_t thread{};
  int failures = 0;
  ASSERT_EQ(pthread_create(&thread, &small_stack, run_batches, &failures), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&small_stack);
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace loopbrick
