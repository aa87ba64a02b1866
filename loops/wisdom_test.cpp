#include "loops/wisdom.h"

#include <gtest/gtest.h>

#include "kernels/text.h"
#include "loops/plan.h"
#include "loops/wisdom_fit.h"

namespace loopbrick {
namespace {

constexpr const char* kMachine = "amd-epyc-f26m2 2c1s l2-1024k l3-32m avx512";
constexpr const char* kProblem = "conv fwd f32 mb2ic64ih56oc64oh56kh3ph1";

WisdomEntry entry() {
  return {.machine = kMachine,
          .build = "0.1.0 abc1234 g++-12.2.0 release gen" + std::to_string(kGeneratorVersion),
          .conditions = "t2 avx2 warm",
          .problem = kProblem,
          .schedule = "N k64 p q14 @ c64 * c r s",
          .seconds = 0.000125};
}

WisdomEntry with(std::string WisdomEntry::*part, const std::string& text) {
  WisdomEntry changed = entry();
  changed.*part = text;
  return changed;
}

std::string error_of(const std::string& text) {
  try {
    parse_wisdom(text);
  } catch (const ParseError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Wisdom, TextRoundTrips) {
  const Wisdom wisdom{.entries = {entry(), with(&WisdomEntry::conditions, "t4 avx512 cold"),
                                  with(&WisdomEntry::machine, "another")}};
  EXPECT_EQ(parse_wisdom(to_string(wisdom)), wisdom);
  EXPECT_EQ(to_string(parse_wisdom(to_string(wisdom))), to_string(wisdom));
}

TEST(Wisdom, EveryHeaderHoldsForTheEntriesBehindIt) {
  const std::string one = to_string(Wisdom{.entries = {entry()}});
  const std::string other = to_string(Wisdom{.entries = {with(&WisdomEntry::machine, "another")}});
  const Wisdom joined = parse_wisdom("# joined by cat\n\n" + one + "\r\n" + other);
  ASSERT_EQ(joined.entries.size(), 2U);
  EXPECT_EQ(joined.entries[0].machine, kMachine);
  EXPECT_EQ(joined.entries[1].machine, "another");
}

TEST(Wisdom, ErrorsNameLineAndPiece) {
  const std::string header = "loopbrick wisdom 1 | a machine | a build gen1\n";
  const auto expect = [](const std::string& text, const std::string& line,
                         const std::string& piece) {
    EXPECT_EQ(error_of(text).substr(0, line.size()), line);
    EXPECT_NE(error_of(text).find(piece), std::string::npos) << error_of(text);
  };
  expect("t2 avx2 warm | p | s | 1\n", "line 1:", "must come first");
  expect("loopbrick wisdom 7 | m | b\n", "line 1:", "format '7'");
  expect("loopbrick wisdom 1 | m\n", "line 1:", "MACHINE | BUILD");
  expect(header + "\nt2 avx2 warm | p | s\n", "line 3:", "SECONDS");
  for (const char* time : {"", "fast", "0", "-1", "nan", "inf", "1s"})
    expect(header + "t2 avx2 warm | p | s | " + time + "\n", "line 2:", "is no time in seconds");
}

Conditions conditions(const std::string& text = "t2 avx2 warm") { return parse_conditions(text); }

TEST(WisdomFit, TheSameMachineKernelsAndConditionsAreExact) {
  const Judgement found = judge(entry(), kMachine, conditions());
  EXPECT_EQ(found.fit, Fit::exact);
  EXPECT_EQ(found.why, "");
}

void expect_near(const WisdomEntry& entry, const std::string& here, const std::string& why) {
  const Judgement found = judge(entry, kMachine, conditions(here));
  EXPECT_EQ(found.fit, Fit::near) << found.why;
  EXPECT_EQ(found.differences, 1) << found.why;
  EXPECT_NE(found.why.find(why), std::string::npos) << found.why;
}

TEST(WisdomFit, AnotherMachineKernelsOrConditionsAreNear) {
  expect_near(with(&WisdomEntry::machine, "another"), "t2 avx2 warm", "measured on another");
  expect_near(with(&WisdomEntry::build, "0.0.9 aaa g++ release gen0"), "t2 avx2 warm", "gen0");
  expect_near(entry(), "t1 avx2 warm", "measured under t2 avx2 warm, here t1 avx2 warm");
  expect_near(entry(), "t2 avx2 cold", "here t2 avx2 cold");
}

void expect_stale(const WisdomEntry& entry, const std::string& why) {
  const Judgement found = judge(entry, kMachine);
  EXPECT_EQ(found.fit, Fit::stale);
  EXPECT_NE(found.why.find(why), std::string::npos) << found.why;
}

TEST(WisdomFit, WhatCannotBeReadOrRunIsStale) {
  expect_stale(with(&WisdomEntry::schedule, "N k64 !"), "not read: ");
  expect_stale(with(&WisdomEntry::problem, "conv fwd f32 mb2zz"), "not read: ");
  expect_stale(with(&WisdomEntry::conditions, "t2 mmx warm"), "mmx");
  expect_stale(with(&WisdomEntry::schedule, "N k64 p @ c64 * c r s"), "refused under ");
}

TEST(WisdomFit, MatchingPutsExactEntriesFirstAndLeavesOtherProblemsOut) {
  const WisdomEntry here = entry();
  const WisdomEntry elsewhere = with(&WisdomEntry::machine, "another");
  WisdomEntry faster = entry();
  faster.schedule = "N k64 p q28 @ c64 * c r s";
  faster.seconds = 0.0001;
  const Wisdom wisdom{
      .entries = {elsewhere, here, faster,
                  with(&WisdomEntry::problem, "conv fwd f32 mb1ic64ih56oc64oh56kh3ph1"),
                  with(&WisdomEntry::schedule, "N k64 !")}};
  EXPECT_EQ(matching(wisdom, parse_problem(kProblem), kMachine, conditions()),
            (std::vector{faster, here, elsewhere}));
}

TEST(WisdomFit, AdviceIsForTheSameNumberOfThreads) {
  const Wisdom wisdom{.entries = {entry()}};
  const Problem problem = parse_problem(kProblem);
  EXPECT_EQ(advice(wisdom, problem, "another", conditions("t2 avx2 cold")), entry());
  EXPECT_EQ(advice(wisdom, problem, kMachine, conditions("t1 avx2 warm")), std::nullopt);
}

}  // namespace
}  // namespace loopbrick
