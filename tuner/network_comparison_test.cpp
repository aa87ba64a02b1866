#include "tuner/network_comparison.h"

#include <gtest/gtest.h>

#include "tuner/test_store.h"

namespace loopbrick {
namespace {

std::vector<Layer> layers(const std::vector<std::string>& texts) {
  std::vector<Layer> all;
  for (const std::string& text : texts) {
    const auto number = static_cast<std::int64_t>(all.size() + 1);
    all.push_back({.label = "net:" + std::to_string(number),
                   .problem = parse_problem(text),
                   .count = number});
  }
  return all;
}

CompareRequest request_for(const std::vector<std::string>& texts, const TestStore& store) {
  CompareRequest request{.layers = layers(texts),
                         .conditions = {.threads = 2, .isa = Isa::avx2},
                         .station = store.station(),
                         .arms = {},
                         .schedule = "",
                         .rounds = {.rounds = 4, .processes = 2, .sample_seconds = 1e-4},
                         .budget = {},
                         .bench = {}};
  request.bench.in_process = true;
  return request;
}

/// A control: ours with the schedule given, made slower.
Arm slowed(const char* schedule) {
  return {.implementation = "slowed", .choice = std::string("300% loopbrick ") + schedule};
}

TEST(NetworkComparison, HasOneRowForEachWayThroughAllLayers) {
  TestStore store;
  CompareRequest request = request_for({"fc mb24ic64oc64+bias+relu"}, store);
  request.layers[0].count = 3;
  request.arms = {slowed("N12 k64 @ c64")};
  std::vector<std::string> watched;
  const CompareReport report =
      compare_network(request, "net", store.store(),
                      [&watched](const std::string& layer, int, int) { watched.push_back(layer); });
  ASSERT_EQ(report.rows.size(), 2U);
  EXPECT_EQ(report.rows[0].outcome, "ok") << report.rows[0].reason;
  EXPECT_TRUE(report.rows[0].is_ours);
  EXPECT_EQ(report.rows[0].impl, "model");
  EXPECT_EQ(report.rows[0].layer, "net");
  EXPECT_EQ(report.rows[0].problem, "1 problems, 3 runs");
  EXPECT_NEAR(report.rows[0].gflops * report.rows[0].median_s, 3e-9 * 2 * 24 * 64 * 64, 1e-15);
  EXPECT_EQ(report.rows[1].outcome, "ok") << report.rows[1].reason;
  EXPECT_GT(report.rows[1].speedup, 1.0);
  EXPECT_FALSE(report.rows[1].verdict.empty());
  EXPECT_EQ(watched, std::vector<std::string>{"net:1"});
}

TEST(NetworkComparison, AWayThatFailsOnALayerIsNotTimedAndSaysWhere) {
  TestStore store;
  CompareRequest request = request_for(
      {"fc mb24ic64oc64", "fc bwd_d mb24ic64oc64+relu", "fc bwd_w mb24ic64oc64+bias"}, store);
  request.arms = {slowed("N12 k64 @ c64")};
  std::vector<std::string> watched;
  const CompareReport report =
      compare_network(request, "net", store.store(),
                      [&watched](const std::string& layer, int, int) { watched.push_back(layer); });
  EXPECT_EQ(report.rows[0].outcome, "ok") << report.rows[0].reason;
  EXPECT_EQ(report.rows[0].problem, "3 problems, 6 runs");
  EXPECT_EQ(report.rows[1].outcome, "not_applicable");
  EXPECT_TRUE(report.rows[1].reason.starts_with("net:3: ")) << report.rows[1].reason;
  EXPECT_TRUE(report.rows[1].verdict.empty());
  EXPECT_EQ(watched, (std::vector<std::string>{"net:1", "net:3", "net:2"}));  // backward: reversed
}

/// A suite lists all layers by data, then all by weights; training goes layer by layer.
TEST(NetworkComparison, BothGradientsOfALayerFollowEachOther) {
  TestStore store;
  CompareRequest request =
      request_for({"fc mb24ic64oc64", "fc mb24ic64oc32", "fc bwd_d mb24ic64oc64",
                   "fc bwd_d mb24ic64oc32", "fc bwd_w mb24ic64oc64", "fc bwd_w mb24ic64oc32"},
                  store);
  for (std::size_t i = 0; i < 6; ++i) request.layers[i].label = i % 2 == 0 ? "first" : "last";
  std::vector<std::string> watched;
  compare_network(request, "net", store.store(),
                  [&watched](const std::string& layer, int, int) { watched.push_back(layer); });
  EXPECT_EQ(watched, (std::vector<std::string>{"first", "last", "last", "last", "first", "first"}));
}

TEST(NetworkComparison, StoppedItHasNoRows) {
  TestStore store;
  const CompareRequest request = request_for({"fc mb24ic64oc64"}, store);
  const std::atomic<bool> stop = true;
  const CompareReport report = compare_network(request, "net", store.store(), {}, &stop);
  EXPECT_TRUE(report.interrupted);
  EXPECT_TRUE(report.rows.empty());
}

}  // namespace
}  // namespace loopbrick
