#include "trials/network.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <stdexcept>

#include "trials/network_request.h"

namespace loopbrick {
namespace {

Network two_layers() {
  Conditions conditions{.threads = 1, .isa = Isa::ref};
  return {.layers = {{.label = "first", .problem = parse_problem("gemm 5x6:6x7bs2"), .count = 2},
                     {.label = "second", .problem = parse_problem("gemm 3x4:4x2"), .count = 1}},
          .conditions = conditions,
          .seed = 3};
}

NetworkArms fakes(const std::string& first, const std::string& second) {
  return {{.implementation = "fake", .choice = first},
          {.implementation = "fake", .choice = second}};
}

/// The worker of the fakes stands beside this program.
BenchOptions with_fakes() {
  BenchOptions options;
  options.program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "loopbrick_fake_worker";
  return options;
}

constexpr RoundPlan kShort{.rounds = 4, .processes = 2, .sample_seconds = 1e-4};

TEST(Network, RequestsSurviveTheirMessage) {
  const NetworkRequest request{.network = two_layers(),
                               .ways = {fakes("right", "right"), fakes("right 2", "adds")},
                               .share = {.first = 2, .count = 3, .process = 1, .seed = 1ULL << 63}};
  const NetworkRequest read = read_network(decode(encode(network_request(request))));
  EXPECT_EQ(encode(network_request(read)), encode(network_request(request)));
  EXPECT_EQ(read.ways, request.ways);
  EXPECT_EQ(read.network.layers[0].count, 2);
  EXPECT_EQ(read.share.seed, request.share.seed);
}

TEST(Network, EveryWayHasASampleOfEveryRound) {
  const std::vector<NetworkArms> ways{fakes("right", "right"), fakes("right 2", "right 3")};
  const Rounds rounds = time_network(two_layers(), ways, kShort, with_fakes());
  EXPECT_EQ(rounds.peak_flops.size(), 4U);
  for (const Attempt& attempt : rounds.arms) {
    EXPECT_EQ(attempt.outcome, "ok");
    ASSERT_EQ(attempt.samples.size(), 4U);
    for (int round = 0; round < 4; ++round) {
      const Sample& sample = attempt.samples[static_cast<std::size_t>(round)];
      EXPECT_EQ(sample.round, round);
      EXPECT_EQ(sample.process, round / 2);
      EXPECT_GT(sample.seconds, 0.0);
    }
  }
  EXPECT_NE(rounds.arms[0].samples[0].order, rounds.arms[1].samples[0].order);
}

/// What ran, in which order: "5:0" is the first set of buffers of the gemm with 5 rows.
std::vector<std::string> ran;

constexpr Implementation kRecorder{
    .name = "fake",
    .sentence = "writes down that it runs",
    .version = [] { return std::string("1"); },
    .prepare = [](const Problem& problem, std::string_view,
                  const Conditions&) -> std::variant<Runnable, Refusal> {
      static int copies = 0;
      const std::string rows = std::to_string(std::get<Gemm>(problem.shape).m);
      const std::string name = rows + ":" + std::to_string(copies++ % 2);
      Runnable runnable;
      runnable.load = [](const Arrays&) {};
      runnable.run = [name] { ran.push_back(name); };
      runnable.unload = [](const Arrays&) {};
      return runnable;
    }};

TEST(Network, APassRunsEveryLayerAsOftenAsItCountsOnOperandsOfItsOwn) {
  ran.clear();
  const std::vector<NetworkArms> ways{fakes("", "")};
  const Rounds rounds = time_network_here(
      two_layers(), ways, {.count = 1, .sample_seconds = 0.0},
      [](std::string_view) { return &kRecorder; }, [](int, std::string_view) {});
  EXPECT_EQ(rounds.arms[0].outcome, "ok");
  ASSERT_GE(ran.size(), 6U);
  EXPECT_EQ(std::vector<std::string>(ran.begin(), ran.begin() + 6),
            (std::vector<std::string>{"5:0", "5:1", "3:0", "5:0", "5:1", "3:0"}));
  EXPECT_EQ(ran.size() % 3, 0U);
}

TEST(Network, AnArmThatRefusesNamesItsLayerAndLeavesTheOthersAlone) {
  const std::vector<NetworkArms> ways{fakes("right", "refuses"), fakes("right", "right")};
  const Rounds rounds = time_network(two_layers(), ways, kShort, with_fakes());
  EXPECT_EQ(rounds.arms[0].outcome, "not_applicable");
  EXPECT_EQ(rounds.arms[0].reason, "second: 7 is above 5");
  EXPECT_TRUE(rounds.arms[0].samples.empty());
  EXPECT_EQ(rounds.arms[1].outcome, "ok");
  EXPECT_EQ(rounds.arms[1].samples.size(), 4U);
}

TEST(Network, ALostWorkerIsAnErrorThatSaysWhere) {
  const std::vector<NetworkArms> ways{fakes("right", "crashes")};
  try {
    time_network(two_layers(), ways, kShort, with_fakes());
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    // How it died depends on the build: a sanitizer makes an exit code of a signal.
    EXPECT_NE(std::string(error.what()).find("was lost in 'time'"), std::string::npos)
        << error.what();
  }
}

/// Nobody who stops a run waits for the longest stage of a worker.
TEST(Network, AStopEndsAWorkerThatHangs) {
  const std::atomic<bool> stop = true;
  BenchOptions options = with_fakes();
  options.stop = &stop;
  const auto start = std::chrono::steady_clock::now();
  const std::vector<NetworkArms> ways{fakes("right", "hangs")};
  EXPECT_TRUE(time_network(two_layers(), ways, kShort, options).stopped);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST(Network, WhatDoesNotFitIsRefusedBeforeAnythingStarts) {
  Network network = two_layers();
  network.layers[0].count = std::int64_t{1} << 45;
  const std::vector<NetworkArms> ways{fakes("right", "right")};
  EXPECT_THROW(time_network(network, ways, kShort, with_fakes()), NoMemory);
}

}  // namespace
}  // namespace loopbrick
