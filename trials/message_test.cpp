#include "trials/message.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "trials/attempt_text.h"
#include "trials/request.h"

namespace loopbrick {
namespace {

TEST(Message, TextRoundTrips) {
  const std::vector<Message> messages{{"ready", {}},
                                      {"check", {"onednn", ""}},
                                      {"x", {"", "", "tab\there", "line\nend", "back\\slash\\n"}}};
  for (const Message& message : messages) {
    const std::string line = encode(message);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    EXPECT_EQ(decode(line), message) << line;
  }
}

TEST(Message, NumbersSurviveBitForBit) {
  for (const double value : {0.0, 0.1, 1e300, 1.0 / 3.0, std::numeric_limits<double>::min()}) {
    const Message message{"n", {number_text(value)}};
    EXPECT_EQ(Fields(message).number(), value);
  }
}

TEST(Message, MissingOrMalformedFieldIsNamed) {
  const Message message{"n", {"12x"}};
  EXPECT_THROW(Fields(message).count(), std::runtime_error);
  Fields fields(message);
  fields.text();
  EXPECT_TRUE(fields.empty());
  EXPECT_THROW(fields.text(), std::runtime_error);
}

TEST(AttemptText, RoundTripsWithNoFieldAtItsDefault) {
  Attempt attempt{.outcome = "wrong_result",
                  .reason = "y[1] is\tnot\n2",
                  .ran = "avx512 6x64",
                  .included = "packing",
                  .flag = "ref",
                  .version = "2.6",
                  .facts = "pin=0,1",
                  .executed_flops = 1e9 / 3.0,
                  .workspace_bytes = std::int64_t{1} << 40,
                  .prepare_seconds = 1e-5,
                  .samples = {}};
  attempt.samples.push_back(
      {.start = 1.25, .seconds = 1e-3 / 7.0, .calls = 9, .round = 2, .process = 1, .order = 3});
  attempt.samples.push_back(
      {.start = 2.5, .seconds = 3e-3, .calls = 1, .round = 4, .process = 2, .order = 1});
  EXPECT_EQ(read_attempt(decode(encode(attempt_message(attempt)))), attempt);
}

TEST(Request, SetupRoundTrips) {
  Examination examination{.problem = parse_problem("gemm 3x4:4x5bs2"),
                          .conditions = parse_conditions("t3 avx2 cold"),
                          .seed = ~std::uint64_t{0},
                          .memory = {{Fill::ones, 7}, {Fill::uniform, 8}},
                          .has_perf_map = true};
  const Examination read = read_setup(setup_request(examination));
  EXPECT_EQ(read.problem, examination.problem);
  EXPECT_EQ(read.conditions, examination.conditions);
  EXPECT_EQ(read.seed, examination.seed);
  EXPECT_TRUE(read.has_perf_map);
  ASSERT_EQ(read.memory.size(), 2U);
  EXPECT_EQ(read.memory[1].fill, Fill::uniform);
  EXPECT_EQ(read.memory[1].descriptor, 8);
}

TEST(Request, AttemptRoundTrips) {
  const AttemptRequest request{
      .arm = {"loopbrick", "N k64 @ c64"},
      .sampling = {.least_calls = 4, .samples = 5, .sample_seconds = 0.2, .give_up_above = 0.3}};
  const AttemptRequest read = read_attempt_request(attempt_request(request));
  EXPECT_EQ(read.arm, request.arm);
  EXPECT_EQ(read.sampling.least_calls, 4);
  EXPECT_EQ(read.sampling.samples, 5);
  EXPECT_EQ(read.sampling.sample_seconds, 0.2);
  EXPECT_EQ(read.sampling.give_up_above, 0.3);
}

TEST(Request, RoundsRoundTrip) {
  const RoundsRequest request{
      .arms = {{"loopbrick", "a"}, {"onednn", "any"}},
      .share = {.first = 3, .count = 4, .process = 1, .sample_seconds = 0.5, .seed = 99}};
  const RoundsRequest read = read_rounds_request(rounds_request(request));
  EXPECT_EQ(read.arms, request.arms);
  EXPECT_EQ(read.share.first, 3);
  EXPECT_EQ(read.share.count, 4);
  EXPECT_EQ(read.share.process, 1);
  EXPECT_EQ(read.share.sample_seconds, 0.5);
  EXPECT_EQ(read.share.seed, 99U);
}

TEST(ReadingsText, RoundTrips) {
  const std::vector<Reading> readings{{"cycles", 1e9 / 3.0, ""},
                                      {"L2 misses", std::nullopt, "not available: no such event"},
                                      {"faults", 0.0, ""}};
  EXPECT_EQ(read_readings(readings_message(readings)), readings);
}

TEST(CountRequest, RoundTrips) {
  const Message message = count_request({{"onednn", "any"}, 0.25});
  EXPECT_EQ(message.verb, "count");
  const CountRequest request = read_count_request(message);
  EXPECT_EQ(request.arm, (Arm{"onednn", "any"}));
  EXPECT_EQ(request.seconds, 0.25);
}

}  // namespace
}  // namespace loopbrick
