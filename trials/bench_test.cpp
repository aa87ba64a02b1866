#include "trials/bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <ostream>
#include <set>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>

#include "measure/system_files.h"

namespace loopbrick {
namespace {

const Problem kProblem = parse_problem("gemm 5x6:6x7bs2");

Conditions one_thread() {
  Conditions conditions;
  conditions.threads = 1;
  conditions.isa = Isa::ref;
  return conditions;
}

/// The worker of the fakes stands beside this program.
BenchOptions with_fakes(std::vector<Fill> fills = {Fill::integers, Fill::uniform}) {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  BenchOptions options;
  options.fills = std::move(fills);
  options.program = folder / "loopbrick_fake_worker";
  return options;
}

BenchOptions impatient() {
  BenchOptions options = with_fakes();
  options.timeout_seconds = 1.0;
  return options;
}

constexpr Sampling kQuick{.least_calls = 2, .samples = 3, .sample_seconds = 1e-4};
constexpr RoundPlan kPlan{.rounds = 7, .processes = 3, .sample_seconds = 1e-4, .seed = 5};

Arm fake(const std::string& choice) { return {.implementation = "fake", .choice = choice}; }

std::vector<Arm> fakes(const std::vector<std::string>& choices) {
  std::vector<Arm> arms;
  for (const std::string& choice : choices) arms.push_back(fake(choice));
  return arms;
}

bool contains(const std::string& text, const std::string& piece) {
  return text.find(piece) != std::string::npos;
}

TEST(Bench, ARightArmIsDescribedAndTimed) {
  Bench bench(kProblem, one_thread(), with_fakes());
  const Attempt attempt = bench.attempt(fake("right"), kQuick);
  EXPECT_EQ(attempt.outcome, "ok") << attempt.reason;
  EXPECT_EQ(attempt.reason, "");
  EXPECT_EQ(attempt.ran, "plain loops");
  EXPECT_EQ(attempt.included, "nothing");
  EXPECT_EQ(attempt.flag, "fake");
  EXPECT_EQ(attempt.version, "1.2");
  EXPECT_EQ(attempt.executed_flops, 42.0);
  EXPECT_EQ(attempt.workspace_bytes, 64);
  EXPECT_TRUE(contains(attempt.facts, "pin=")) << attempt.facts;
  ASSERT_EQ(attempt.samples.size(), 3U);
  for (const Sample& sample : attempt.samples) {
    EXPECT_GT(sample.seconds, 0.0);
    EXPECT_GT(sample.calls, 1);
  }
  EXPECT_LT(attempt.samples[0].start, attempt.samples[1].start);
}

TEST(Bench, AHopelessArmIsOnlyScreened) {
  Bench bench(kProblem, one_thread(), with_fakes());
  Sampling sampling = kQuick;
  sampling.give_up_above = 0.0;
  const Attempt attempt = bench.attempt(fake("right"), sampling);
  EXPECT_EQ(attempt.outcome, "ok");
  ASSERT_EQ(attempt.samples.size(), 2U);
  EXPECT_EQ(attempt.samples[0].calls, 1);
}

TEST(Bench, CheckTakesNoSamples) {
  Bench bench(kProblem, one_thread(), with_fakes());
  const Attempt attempt = bench.check(fake("right"));
  EXPECT_EQ(attempt.outcome, "ok");
  EXPECT_TRUE(attempt.samples.empty());
  EXPECT_EQ(bench.check(fake("is off by one")).outcome, "wrong_result");
}

TEST(Bench, CountTakesOneSampleAndAReadingOfEachEvent) {
  for (const bool in_process : {false, true}) {
    BenchOptions options = with_fakes();
    options.in_process = in_process;
    Bench bench(kProblem, one_thread(), options);
    const std::string schedule = "m5 n6 @ k7 * b";
    const Arm arm = in_process ? Arm{"loopbrick", schedule} : fake("right");
    const Counted counted = bench.count(arm, 1e-3);
    ASSERT_EQ(counted.attempt.outcome, "ok") << counted.attempt.reason;
    ASSERT_EQ(counted.attempt.samples.size(), 1U);
    EXPECT_GT(counted.attempt.samples[0].calls, 1);
    ASSERT_EQ(counted.readings.size(), hardware_events().size());
    for (const Reading& reading : counted.readings) {
      EXPECT_EQ(reading.count.has_value(), reading.reason.empty()) << reading.name;
    }
  }
}

TEST(Bench, CountOfAnArmThatFailsHasNoReadings) {
  Bench bench(kProblem, one_thread(), with_fakes());
  for (const auto& [choice, outcome] :
       {std::pair("is off by one", "wrong_result"), std::pair("crashes", "crashed")}) {
    const Counted counted = bench.count(fake(choice), 1e-3);
    EXPECT_EQ(counted.attempt.outcome, outcome);
    EXPECT_TRUE(counted.readings.empty());
  }
  EXPECT_EQ(bench.attempt(fake("right"), kQuick).outcome, "ok");
}

struct Fault {
  std::string choice;
  std::string outcome;
  std::string reason;  ///< a piece of it
};

std::ostream& operator<<(std::ostream& out, const Fault& fault) { return out << fault.choice; }

class BenchFault : public testing::TestWithParam<Fault> {};

TEST_P(BenchFault, BecomesAnOutcomeAndTheBenchGoesOn) {
  const bool hangs = GetParam().outcome == "timed_out";
  Bench bench(kProblem, one_thread(), hangs ? impatient() : with_fakes());
  const Attempt attempt = bench.attempt(fake(GetParam().choice), kQuick);
  EXPECT_EQ(attempt.outcome, GetParam().outcome) << attempt.reason;
  EXPECT_TRUE(contains(attempt.reason, GetParam().reason)) << attempt.reason;
  EXPECT_TRUE(attempt.samples.empty());
  EXPECT_EQ(bench.attempt(fake("right"), kQuick).outcome, "ok");
}

// What a sanitizer makes of a crash is another way to die: only the stage is named there.
INSTANTIATE_TEST_SUITE_P(
    Every, BenchFault,
    testing::Values(Fault{"crashes", "crashed", "in 'run'"},
                    Fault{"crashes late", "crashed", "in 'time'"},
                    Fault{"crashes in prepare", "crashed", "in 'prepare'"},
                    Fault{"exits", "crashed", "exit code 3 in 'run'"},
                    Fault{"writes its input", "crashed", "in 'load'"},
                    Fault{"writes past its output", "crashed", "in 'unload'"},
                    Fault{"throws", "crashed", "lost its way"},
                    Fault{"throws in load", "crashed", "no such layout"},
                    Fault{"is killed", "out_of_memory", "the system killed the worker"},
                    Fault{"hangs", "timed_out", "after 1 s, in 'run'"},
                    Fault{"hangs late", "timed_out", "in 'time'"},
                    Fault{"leaves a hole", "wrong_result", "c[4][6] is nan"},
                    Fault{"is off by one", "wrong_result", "c[0][0]"},
                    Fault{"adds", "wrong_result", "c[0][0]"},
                    Fault{"wants much", "out_of_memory", "1152921504606846976 bytes"},
                    Fault{"eats memory", "out_of_memory", "allocation failed"},
                    Fault{"finds no memory", "out_of_memory", "allocation failed"},
                    Fault{"cannot generate", "jit_failed", "no executable pages"},
                    Fault{"is no choice", "not_applicable", "'is no choice' is no choice"},
                    Fault{"refuses", "not_applicable", "7 is above 5"}),
    [](const testing::TestParamInfo<Fault>& fault) {
      std::string name = fault.param.choice;
      std::replace(name.begin(), name.end(), ' ', '_');
      return name;
    });

TEST(Bench, AnUnknownImplementationIsNotApplicable) {
  Bench bench(kProblem, one_thread(), with_fakes());
  const Attempt attempt = bench.attempt({"nobody", "any"}, kQuick);
  EXPECT_EQ(attempt.outcome, "not_applicable");
  EXPECT_TRUE(contains(attempt.reason, "'nobody'")) << attempt.reason;
}

TEST(Bench, OneWorkerServesUntilItDies) {
  Bench bench(kProblem, one_thread(), with_fakes());
  const std::string first = bench.check(fake("shows its process")).ran;
  EXPECT_EQ(bench.check(fake("shows its process")).ran, first);
  EXPECT_NE(first, std::to_string(getpid()));
  bench.check(fake("crashes"));
  EXPECT_NE(bench.check(fake("shows its process")).ran, first);
}

TEST(Bench, SignalsToTheWholeProcessGroupDoNotEndTheWorker) {
  Bench bench(kProblem, one_thread(), with_fakes());
  const std::string first = bench.check(fake("shows its process")).ran;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    ASSERT_EQ(kill(std::stoi(first), signal), 0);
    EXPECT_EQ(bench.check(fake("shows its process")).ran, first) << signal;
  }
}

TEST(Bench, AStopEndsABusyWorkerAndIsNoOutcome) {
  std::atomic<bool> stop = false;
  BenchOptions options = with_fakes();
  options.timeout_seconds = 1e6;
  options.stop = &stop;
  Bench bench(kProblem, one_thread(), options);
  EXPECT_EQ(bench.attempt(fake("right"), kQuick).outcome, "ok");
  stop = true;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(bench.attempt(fake("hangs"), kQuick), Stopped);
  EXPECT_TRUE(bench.rounds(fakes({"hangs late"}), kPlan).stopped);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST(Bench, WritesTheWorkersEnvironment) {
  setenv("OPENBLAS_CORETYPE", "Prescott", 1);
  setenv("OMP_NUM_THREADS", "77", 1);
  Bench bench(kProblem, one_thread(), with_fakes());
  EXPECT_EQ(bench.check(fake("shows its environment")).ran,
            "OMP_NUM_THREADS=1 OMP_WAIT_POLICY=active OPENBLAS_CORETYPE=unset ");
  BenchOptions keeping = with_fakes();
  keeping.keep_environment = true;
  Bench kept(kProblem, one_thread(), keeping);
  EXPECT_EQ(kept.check(fake("shows its environment")).ran,
            "OMP_NUM_THREADS=1 OMP_WAIT_POLICY=active OPENBLAS_CORETYPE=Prescott ");
  unsetenv("OPENBLAS_CORETYPE");
  unsetenv("OMP_NUM_THREADS");
}

TEST(Bench, AProgramThatIsNoWorkerIsNamed) {
  BenchOptions options = with_fakes();
  options.program = "/bin/true";
  try {
    const Bench bench(kProblem, one_thread(), options);
    FAIL() << "started";
  } catch (const std::runtime_error& error) {
    EXPECT_TRUE(contains(error.what(), "'/bin/true'")) << error.what();
  }
}

TEST(Bench, OperandsThatDoNotFitAreRefusedBeforehand) {
  const Problem vast = parse_problem("gemm 4000000x1:1x4000000");
  try {
    const Bench bench(vast, one_thread(), with_fakes());
    FAIL() << "started";
  } catch (const NoMemory& error) {
    EXPECT_TRUE(contains(error.what(), "GiB")) << error.what();
  }
}

TEST(Bench, WithoutAFillNothingCouldBeChecked) {
  EXPECT_THROW(Bench(kProblem, one_thread(), with_fakes({})), std::invalid_argument);
}

/// Is there no such process, or only its remains?
bool is_gone(int process) {
  const auto stat = read_text("/proc/" + std::to_string(process) + "/stat");
  return !stat || contains(*stat, ") Z ");
}

TEST(Bench, KillingTheClientLeavesNoWorkerBehind) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t client = fork();
  if (client == 0) {
    Bench bench(kProblem, one_thread(), with_fakes());
    const int worker = std::stoi(bench.check(fake("shows its process")).ran);
    if (write(ends[1], &worker, sizeof worker) != sizeof worker) _exit(1);
    bench.check(fake("hangs"));
    _exit(0);
  }
  int worker = 0;
  ASSERT_EQ(read(ends[0], &worker, sizeof worker), static_cast<ssize_t>(sizeof worker));
  EXPECT_FALSE(is_gone(worker));
  kill(client, SIGKILL);
  waitpid(client, nullptr, 0);
  for (int i = 0; i < 500 && !is_gone(worker); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(is_gone(worker));
  close(ends[0]);
  close(ends[1]);
}

/// Peak of a process's memory.
std::int64_t peak_bytes(const std::string& process) {
  const std::string status = read_text("/proc/" + process + "/status").value_or("");
  return std::stoll("0" + field(status, "VmHWM")) * 1024;
}

TEST(Bench, StaysWithinFourTimesTheTensors) {
  const Problem large = parse_problem("gemm 4096x1:1x4096");
  Bench bench(large, one_thread(), with_fakes({Fill::uniform}));
  const std::string worker = bench.check(fake("shows its process")).ran;
  EXPECT_EQ(bench.attempt(fake("right"), kQuick).outcome, "ok");
  EXPECT_LT(peak_bytes(worker) + peak_bytes("self"),
            4 * total_bytes(large) + (std::int64_t{300} << 20));
}

TEST(BenchRounds, EveryRoundHasOneSampleOfEveryArm) {
  Bench bench(kProblem, one_thread(), with_fakes());
  const Rounds rounds = bench.rounds(fakes({"right", "right 2", "right 3"}), kPlan);
  ASSERT_EQ(rounds.arms.size(), 3U);
  EXPECT_EQ(rounds.peak_flops.size(), 7U);
  for (const double peak : rounds.peak_flops) EXPECT_GT(peak, 0.0);
  for (const Attempt& arm : rounds.arms) {
    ASSERT_EQ(arm.outcome, "ok") << arm.reason;
    ASSERT_EQ(arm.samples.size(), 7U);
    EXPECT_EQ(arm.ran, "plain loops");
    EXPECT_TRUE(contains(arm.facts, "pin="));
  }
  const std::array processes{0, 0, 0, 1, 1, 2, 2};
  for (std::size_t round = 0; round < 7; ++round) {
    std::set<int> orders;
    for (const Attempt& arm : rounds.arms) {
      const Sample& sample = arm.samples[round];
      EXPECT_EQ(sample.round, static_cast<int>(round));
      EXPECT_EQ(sample.process, processes[round]);
      orders.insert(sample.order);
    }
    EXPECT_EQ(orders, (std::set<int>{0, 1, 2}));
  }
}

/// Which arm came when, over all rounds: "0 1 1 0 ...".
std::string sequence(const Rounds& rounds) {
  std::string text;
  for (std::size_t round = 0; round < rounds.arms[0].samples.size(); ++round) {
    text += std::to_string(rounds.arms[0].samples[round].order);
  }
  return text;
}

TEST(BenchRounds, ArmsAlternateInASeededRandomOrder) {
  Bench bench(kProblem, one_thread(), with_fakes());
  const std::vector<Arm> arms = fakes({"right", "right 2"});
  const Rounds rounds = bench.rounds(arms, kPlan);
  for (std::size_t round = 1; round < 7; ++round) {
    const double earlier =
        std::max(rounds.arms[0].samples[round - 1].start, rounds.arms[1].samples[round - 1].start);
    EXPECT_GT(rounds.arms[0].samples[round].start, earlier);
    EXPECT_GT(rounds.arms[1].samples[round].start, earlier);
    EXPECT_EQ(rounds.arms[0].samples[round].order == 0,
              rounds.arms[0].samples[round].start < rounds.arms[1].samples[round].start);
  }
  EXPECT_TRUE(contains(sequence(rounds), "0"));
  EXPECT_TRUE(contains(sequence(rounds), "1"));
  EXPECT_EQ(sequence(bench.rounds(arms, kPlan)), sequence(rounds));
}

TEST(BenchRounds, AFailingArmIsLeftOut) {
  Bench bench(kProblem, one_thread(), impatient());
  const Rounds rounds = bench.rounds(
      fakes({"right", "crashes", "is off by one", "hangs late", "refuses", "right 2"}), kPlan);
  const std::array outcomes{"ok", "crashed", "wrong_result", "timed_out", "not_applicable", "ok"};
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    EXPECT_EQ(rounds.arms[i].outcome, outcomes[i]) << rounds.arms[i].reason;
    EXPECT_EQ(rounds.arms[i].samples.size(), i == 0 || i == 5 ? 7U : 0U);
  }
  EXPECT_EQ(rounds.peak_flops.size(), 7U);
}

TEST(BenchRounds, AStopEndsThemBeforeTheNextProcess) {
  Bench bench(kProblem, one_thread(), with_fakes());
  const std::atomic<bool> stop = true;
  RoundPlan plan = kPlan;
  plan.stop = &stop;
  const Rounds rounds = bench.rounds(fakes({"right"}), plan);
  EXPECT_TRUE(rounds.stopped);
  EXPECT_TRUE(rounds.arms[0].samples.empty());
}

TEST(BenchRounds, WithoutAnyArmThatRunsThereAreNone) {
  Bench bench(kProblem, one_thread(), with_fakes());
  const Rounds rounds = bench.rounds(fakes({"crashes"}), kPlan);
  EXPECT_EQ(rounds.arms.at(0).outcome, "crashed");
}

TEST(BenchInProcess, RunsTheRealTableAndTheControl) {
  const Problem conv = parse_problem("conv fwd f32 mb1ic16ih5oc16kh3ph1");
  BenchOptions options;
  options.in_process = true;
  Bench bench(conv, {.threads = 1, .isa = best_isa()}, options);
  const std::string schedule = "N k16 p q5 @ c16 * c r s";
  const Attempt ours = bench.attempt({"loopbrick", schedule}, kQuick);
  EXPECT_EQ(ours.outcome, "ok") << ours.reason;
  EXPECT_EQ(ours.samples.size(), 3U);
  const Attempt slowed = bench.attempt({"slowed", "50% loopbrick " + schedule}, kQuick);
  EXPECT_EQ(slowed.outcome, "ok") << slowed.reason;
  EXPECT_TRUE(contains(slowed.ran, "50% slower")) << slowed.ran;
  EXPECT_EQ(bench.check({"slowed", "50% nobody"}).outcome, "not_applicable");
  EXPECT_EQ(bench.check({"loopbrick", "Z9"}).outcome, "not_applicable");
  const std::vector<Arm> arms{{"loopbrick", schedule}, {"slowed", "50% loopbrick " + schedule}};
  EXPECT_EQ(bench.rounds(arms, kPlan).arms[1].samples.size(), 7U);
}

}  // namespace
}  // namespace loopbrick
