#include "trials/examiner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "measure/machine.h"

namespace loopbrick {
namespace {

/// What a recording implementation saw. It copies nothing and computes nothing.
struct Seen {
  std::vector<int> runs;  ///< which of its instances ran, in order
  int instances = 0;
  int alive = 0;
  int most_alive = 0;
  bool outputs_were_nan = true;
};

Seen& seen() {
  static Seen everything;
  return everything;
}

std::variant<Runnable, Refusal> prepare_recorder(const Problem&, std::string_view,
                                                 const Conditions&) {
  const int instance = seen().instances++;
  seen().most_alive = std::max(seen().most_alive, ++seen().alive);
  const std::shared_ptr<void> buffers(nullptr, [](void*) { --seen().alive; });
  Runnable runnable;
  runnable.load = [buffers](const Arrays& arrays) {
    for (const float value : arrays[2]) seen().outputs_were_nan &= std::isnan(value);
  };
  runnable.run = [instance] { seen().runs.push_back(instance); };
  runnable.unload = [](const Arrays& arrays) {
    std::fill(arrays[2].begin(), arrays[2].end(), 2.0F);  // two products of ones
  };
  return runnable;
}

constexpr std::array kRecorder{Implementation{.name = "recorder",
                                              .sentence = "for tests",
                                              .version = [] { return std::string("1"); },
                                              .prepare = prepare_recorder}};

const Implementation* find_recorder(std::string_view) { return kRecorder.data(); }

void ignore(int, std::string_view) {}

/// The examiner of a gemm whose result is 2 everywhere, and the memory behind it.
struct Fixture {
  Problem problem;
  FileDescriptor memory;
  Examiner examiner;

  Fixture(const std::string& text, CacheState cache)
      : problem(parse_problem(text)),
        memory(make_operand_memory(problem)),
        examiner({.problem = problem,
                  .conditions = {.threads = 1, .isa = Isa::ref, .cache = cache},
                  .seed = 1,
                  .memory = {{Fill::ones, memory.get()}}},
                 find_recorder) {
    examiner.fill(0);
    seen() = {};
  }
};

constexpr Sampling kThreeCalls{.least_calls = 3, .samples = 0};

TEST(Examiner, OutputsAreNanBeforeTheFirstRun) {
  Fixture fixture("gemm 3x2:2x4", CacheState::warm);
  EXPECT_EQ(fixture.examiner.check({"recorder", ""}, ignore).outcome, "ok");
  EXPECT_TRUE(seen().outputs_were_nan);
  EXPECT_EQ(seen().runs, (std::vector<int>{0, 0}));
}

TEST(Examiner, WarmCallsUseOneSetOfOperands) {
  Fixture fixture("gemm 3x2:2x4", CacheState::warm);
  EXPECT_EQ(fixture.examiner.attempt({"recorder", ""}, kThreeCalls, ignore).outcome, "ok");
  EXPECT_EQ(seen().instances, 1);
  EXPECT_EQ(seen().runs.size(), 2U + 1U + 3U);  // checked, warmed up, timed
}

TEST(Examiner, ColdCallsRotateThroughTwiceTheLastLevelCache) {
  Fixture fixture("gemm 1024x2:2x1024", CacheState::cold);
  EXPECT_EQ(fixture.examiner.attempt({"recorder", ""}, kThreeCalls, ignore).outcome, "ok");
  const std::int64_t rotated = seen().instances * total_bytes(fixture.problem);
  EXPECT_GT(rotated, 2 * detect_machine().l3_bytes);
  EXPECT_LE(rotated, 2 * detect_machine().l3_bytes + total_bytes(fixture.problem));
  const std::vector<int>& runs = seen().runs;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    EXPECT_EQ(runs[i], (runs[i - 1] + 1) % seen().instances) << "call " << i;
  }
}

TEST(Examiner, StagesAreAnnouncedWithTheirArm) {
  Fixture fixture("gemm 3x2:2x4", CacheState::warm);
  std::string stages;
  const auto record = [&stages](int arm, std::string_view stage) {
    stages += std::to_string(arm) + " " + std::string(stage) + "; ";
  };
  const std::array<Arm, 2> arms{Arm{"recorder", "a"}, Arm{"recorder", "b"}};
  const RoundShare share{.first = 0, .count = 1, .process = 0, .sample_seconds = 1e-6};
  const Rounds rounds = fixture.examiner.rounds(arms, share, record);
  EXPECT_EQ(rounds.arms[1].outcome, "ok");
  const std::string checked = "prepare; I load; I run; I unload; I compare; I time; ";
  std::string want;
  for (const char* const arm : {"0", "1"}) {
    std::string one = std::string(arm) + " " + checked;
    for (std::size_t at = one.find('I'); at != std::string::npos; at = one.find('I')) {
      one.replace(at, 1, arm);
    }
    want += one;
  }
  EXPECT_EQ(stages.substr(0, want.size()), want);
  EXPECT_EQ(stages.substr(stages.size() - 9), "-1 peak; ");
}

int most_alive_in_rounds(Fixture& fixture) {
  const std::vector<Arm> arms(5, Arm{"recorder", ""});
  const RoundShare share{.first = 0, .count = 2, .process = 0, .sample_seconds = 1e-9};
  const Rounds rounds = fixture.examiner.rounds(arms, share, ignore);
  for (const Attempt& arm : rounds.arms) EXPECT_EQ(arm.samples.size(), 2U) << arm.reason;
  return seen().most_alive;
}

TEST(Examiner, SmallArmsStayReadyLargeOnesTakeTurns) {
  Fixture small("gemm 3x2:2x4", CacheState::warm);
  EXPECT_EQ(most_alive_in_rounds(small), 5);
  Fixture large("gemm 4096x2:2x4096", CacheState::warm);  // 5 x 64 MiB
  EXPECT_EQ(most_alive_in_rounds(large), 1);
}

}  // namespace
}  // namespace loopbrick
