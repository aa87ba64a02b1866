#include "trials/fake_gemm.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "kernels/text.h"

namespace loopbrick {
namespace {

using Floats = std::vector<float>;

/// Operands of its own, as every implementation has them.
struct FakeGemm {
  Gemm shape;
  std::string fault;
  Floats a, b, c;
  int calls = 0;

  void load(const Arrays& arrays);
  void run();
  void unload(const Arrays& arrays) const;
  float dot(std::int64_t row, std::int64_t col) const;
};

Floats copy_of(std::span<const float> values) { return {values.begin(), values.end()}; }

void FakeGemm::load(const Arrays& arrays) {
  a = copy_of(arrays[0]);
  b = copy_of(arrays[1]);
  c = copy_of(arrays[2]);
  if (fault == "writes its input") arrays[0][0] = 1.0F;
  if (fault == "throws in load") throw std::runtime_error("no such layout");
}

void misbehave(const std::string& fault, int calls) {
  if (fault == "crashes") std::raise(SIGSEGV);
  if (fault == "crashes late" && calls > 4) std::raise(SIGILL);
  if (fault == "is killed") std::raise(SIGKILL);
  if (fault == "exits") _exit(3);
  while (fault == "eats memory") {
    constexpr std::size_t kBlock = std::size_t{1} << 30;
    if (mmap(nullptr, kBlock, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
             -1, 0) == MAP_FAILED) {
      throw std::bad_alloc();
    }
  }
  if (fault == "throws") throw std::runtime_error("lost its way");
  while (fault == "hangs" || (fault == "hangs late" && calls > 4)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

float FakeGemm::dot(std::int64_t row, std::int64_t col) const {
  float sum = 0.0F;
  for (std::int64_t entry = 0; entry < shape.batch; ++entry) {
    for (std::int64_t depth = 0; depth < shape.k; ++depth) {
      sum += a[static_cast<std::size_t>((entry * shape.m + row) * shape.k + depth)] *
             b[static_cast<std::size_t>((entry * shape.k + depth) * shape.n + col)];
    }
  }
  return sum;
}

void FakeGemm::run() {
  misbehave(fault, ++calls);
  const bool adds = fault == "adds" && calls > 1;
  for (std::int64_t row = 0; row < shape.m; ++row) {
    for (std::int64_t col = 0; col < shape.n; ++col) {
      float& element = c[static_cast<std::size_t>(row * shape.n + col)];
      element = (adds ? element : 0.0F) + dot(row, col);
    }
  }
  if (fault == "leaves a hole") c.back() = std::numeric_limits<float>::quiet_NaN();
  if (fault == "is off by one") c.front() += 1.0F;
}

void FakeGemm::unload(const Arrays& arrays) const {
  std::copy(c.begin(), c.end(), arrays[2].begin());
  if (fault == "writes past its output") *(arrays[2].data() + arrays[2].size()) = 0.0F;
}

std::string environment_text() {
  std::string text;
  for (const char* const name : {"OMP_NUM_THREADS", "OMP_WAIT_POLICY", "OPENBLAS_CORETYPE"}) {
    const char* const value = std::getenv(name);
    text += std::string(name) + "=" + (value == nullptr ? "unset" : value) + " ";
  }
  return text;
}

std::variant<Runnable, Refusal> prepare_fake(const Problem& problem, std::string_view choice,
                                             const Conditions&) {
  const std::string fault(choice);
  if (fault == "refuses")
    return Refusal{.sentence = "{got} is above {limit}", .got = 7, .limit = 5};
  if (fault == "is no choice") throw ParseError("'is no choice' is no choice");
  if (fault == "finds no memory") throw std::bad_alloc();
  if (fault == "cannot generate") throw std::runtime_error("no executable pages");
  if (fault == "crashes in prepare") std::raise(SIGBUS);
  const auto gemm = std::make_shared<FakeGemm>();
  gemm->shape = std::get<Gemm>(problem.shape);
  gemm->fault = fault;
  Runnable runnable;
  runnable.implementation = fault == "shows its environment" ? environment_text()
                            : fault == "shows its process"   ? std::to_string(getpid())
                                                             : "plain loops";
  runnable.included = "nothing";
  runnable.flag = "fake";
  runnable.executed_flops = 42.0;
  runnable.workspace_bytes = fault == "wants much" ? std::int64_t{1} << 60 : 64;
  runnable.load = [gemm](const Arrays& arrays) { gemm->load(arrays); };
  runnable.run = [gemm] { gemm->run(); };
  runnable.unload = [gemm](const Arrays& arrays) { gemm->unload(arrays); };
  return runnable;
}

constexpr std::array kTable{Implementation{.name = "fake",
                                           .sentence = "for tests",
                                           .version = [] { return std::string("1.2"); },
                                           .prepare = prepare_fake}};

}  // namespace

std::span<const Implementation> fake_table() { return kTable; }

}  // namespace loopbrick
