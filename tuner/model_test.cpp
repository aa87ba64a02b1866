#include "tuner/model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "loops/plan.h"
#include "tuner/lstm_model.h"
#include "tuner/problem_space.h"
#include "tuner/ranking.h"
#include "tuner/reuse.h"
#include "tuner/test_machine.h"

namespace loopbrick {
namespace {

Prediction predict(const std::string& problem, const std::string& schedule, int threads = 2,
                   CacheState cache = CacheState::warm) {
  const Conditions conditions{.threads = threads, .isa = Isa::avx512, .cache = cache};
  const Model model(parse_problem(problem), conditions, test_machine(), test_limits(threads));
  return model.predict(parse_schedule(schedule));
}

constexpr const char* kLayer4 = "mb2ic64ih56oc64oh56kh3ph1";
constexpr const char* kLayer18 = "mb2ic512ih7oc512oh7kh3ph1";

/// The plan counts what really runs; the model must not guess what can be counted.
TEST(Model, CountsTheMultiplyAddsAndCallsOfThePlan) {
  KernelCache kernels;
  const Conditions conditions{.threads = 2, .isa = Isa::ref};
  for (const char* text : {"mb2ic32ih8oc48oh8kh1ph0", "mb2ic16ih9oc32oh9kh3ph1",
                           "mb1ic3ih20oc16oh10kh7sh2ph3", "mb2ic32ih8oc32oh4kh1sh2ph0"}) {
    const Problem problem = parse_problem(text);
    const Model model(problem, conditions, test_machine(), test_limits(2));
    const Space space = problem_space(problem, conditions, test_machine(), test_limits(2));
    const bool has_rim = std::get<Conv>(problem.shape).pad_h > 0;
    Random random(1);
    for (int i = 0; i < 30; ++i) {
      const std::string schedule = space.text(*sample(space, random));
      const Plan plan(problem, parse_schedule(schedule), conditions, kernels);
      const Prediction guess = model.predict(parse_schedule(schedule));
      EXPECT_NEAR(guess.executed_flops / plan.executed_flops(), 1.0, 1e-9)
          << text << " " << schedule;
      if (!has_rim) {
        EXPECT_NEAR(guess.calls, static_cast<double>(plan.calls()), 0.5) << text << " " << schedule;
      }
    }
  }
}

TEST(Model, IsNeverFasterThanThePeak) {
  const Conditions conditions{.threads = 2, .isa = Isa::avx512};
  const Limits limits = test_limits(2);
  for (const char* text : {kLayer4, kLayer18, "mb2ic256ih56oc512oh28kh1sh2ph0"}) {
    const Problem problem = parse_problem(text);
    const Model model(problem, conditions, test_machine(), limits);
    const Space space = problem_space(problem, conditions, test_machine(), limits);
    Random random(1);
    for (int i = 0; i < 200; ++i) {
      const std::string schedule = space.text(*sample(space, random));
      const Prediction guess = model.predict(parse_schedule(schedule));
      EXPECT_GE(guess.seconds * limits.peak_flops, guess.executed_flops * 0.9999) << schedule;
      EXPECT_GE(guess.imbalance, 1.0) << schedule;
      EXPECT_LE(guess.imbalance, 2.0 + 1e-9) << schedule;
    }
  }
}

TEST(Model, LeavesPaddingOutWithWindowsOnly) {
  const double counted = flops(parse_problem(kLayer18));
  EXPECT_NEAR(predict(kLayer18, "N k64 p q7 @ c64 * c r s").executed_flops / counted,
              19.0 * 19.0 / 441.0, 1e-9);
  EXPECT_DOUBLE_EQ(predict(kLayer18, "N p7 pack(x) k64 q7 @ c64 * c r s rim=copy").executed_flops,
                   counted);
}

TEST(Model, SeesTheTilesThatWasteThePipes) {
  const auto compute = [](const char* tile) {
    return predict(kLayer4, std::string("N k64 p q28 @ c64 * r s tile=") + tile).compute;
  };
  const double best = compute("6x64");
  EXPECT_GT(compute("1x64"), 1.9 * best);  // latency: 4 accumulators where 8 are needed
  EXPECT_GT(compute("1x16"), 7.0 * best);
  EXPECT_LT(compute("14x32"), 1.05 * best);
  EXPECT_GT(compute("28x16"), 1.02 * best);  // as many loads as multiply-adds
}

TEST(Model, SeesColumnsThatFillHalfAVector) {
  const double whole = predict("nhwc mb2ic64ih8oc64oh8kh1ph0", "N k64 pq16 @ c64").compute;
  const double half = predict("nhwc mb2ic64ih8oc56oh8kh1ph0", "N k56 pq16 @ c64").compute;
  EXPECT_NEAR(half / whole, 1.0, 1e-9);  // 3.5 vectors cost as much as 4
}

TEST(Model, SeesThreadsWithoutWork) {
  EXPECT_NEAR(predict(kLayer4, "N k64 p q28 @ c64 * r s", 2).imbalance, 1.0, 1e-9);
  EXPECT_NEAR(predict(kLayer4, "K64 n p q28 @ c64 * r s", 2).imbalance, 2.0, 1e-9);
  EXPECT_NEAR(predict(kLayer4, "N k64 p q28 @ c64 * r s", 3).imbalance, 1.5, 1e-9);
  EXPECT_NEAR(predict("mb3ic64ih8oc64oh8kh1ph0", "N k64 P q8 @ c64", 2).imbalance, 1.0, 1e-9);
  EXPECT_NEAR(predict("mb3ic64ih8oc64oh8kh1ph0", "N/2 P/1 k64 q8 @ c64", 2).imbalance, 4.0 / 3.0,
              1e-9);
}

TEST(Model, ReusesWhatFitsACacheAndNotWhatDoesNot) {
  // 4 MiB of weights: read once where all pixels run inside of a block of k, for every line where
  // they run outside.
  const std::string problem = "mb2ic1024ih14oc1024oh14kh1ph0";
  const double inside = predict(problem, "N k64 p q14 @ c64 * c").l3_bytes.all();
  const double outside = predict(problem, "N p k64 q14 @ c64 * c").l3_bytes.all();
  EXPECT_GT(outside, 5.0 * inside);
  EXPECT_GT(inside, 2.0 * 4.0 * 1024 * 1024);
}

TEST(Model, WarmDataThatFitsTheLastCacheNeedsNoMemory) {
  const std::string schedule = "N k64 p q28 @ c64 * r s";
  EXPECT_DOUBLE_EQ(predict(kLayer4, schedule, 2, CacheState::warm).dram_bytes.all(), 0.0);
  const double cold = predict(kLayer4, schedule, 2, CacheState::cold).dram_bytes.all();
  const double tensors = 4.0 * (2.0 * 64 * 56 * 56 * 2 + 64 * 64 * 9);
  EXPECT_GT(cold, tensors);
  EXPECT_LT(cold, 2.0 * tensors);
  EXPECT_GT(predict(kLayer4, schedule, 2, CacheState::cold).seconds,
            predict(kLayer4, schedule).seconds);
}

TEST(Model, CountsPartsOfTheSumAsMoreCalls) {
  const Prediction whole = predict(kLayer18, "N k64 p q7 @ c64 * c r s");
  const Prediction parts = predict(kLayer18, "N k64 c128 p q7 @ c64 * c r s");
  EXPECT_DOUBLE_EQ(parts.calls, 4.0 * whole.calls);
  EXPECT_GT(parts.overhead, whole.overhead);
}

TEST(Model, ChargesForACopy) {
  const std::string problem = "mb2ic256ih56oc512oh28kh1sh2ph0";
  EXPECT_GT(predict(problem, "N p4 pack(x) k64 pq28 @ c64 * c").overhead,
            predict(problem, "N p4 k64 p q28 @ c64 * c").overhead * 1.05);
}

/// Eight of 64 channels that lie side by side bring all of their line along.
TEST(Model, CountsWholeCacheLines) {
  for (const char* pass : {"fwd", "bwd_w"}) {
    const Problem problem = parse_problem(std::string("conv ") + pass + " f32 " + kLayer4);
    const Contraction layer = std::get<Contraction>(contraction(problem));
    const Footprints footprints(layer);
    const auto bytes = [&](double channels, bool is_packed) {
      Region region = whole_region(layer);
      region[Axis::c] = channels;
      return footprints.of(region, is_packed).a;
    };
    EXPECT_DOUBLE_EQ(bytes(8, false), bytes(16, false)) << pass;
    EXPECT_DOUBLE_EQ(bytes(24, false), bytes(32, false)) << pass;
    EXPECT_DOUBLE_EQ(bytes(8, true), 0.5 * bytes(16, true)) << pass;
  }
}

/// Else it would not have looked at the machine.
TEST(Model, OtherBandwidthsMakeAnotherRanking) {
  const Problem problem = parse_problem(kLayer4);
  const Conditions conditions{.threads = 2, .isa = Isa::avx512};
  const auto best_of_ten = [&](double l2, double memory) {
    Limits limits = test_limits(2);
    limits.l2_bandwidth *= l2;
    limits.dram_bandwidth *= memory;
    const Space space = problem_space(problem, conditions, test_machine(), limits);
    std::vector<std::string> texts;
    const std::vector<Ranked> ranked = ranking(space, 1);
    for (std::size_t i = 0; i < 10; ++i) texts.push_back(space.text(ranked[i].point));
    return texts;
  };
  const auto as_measured = best_of_ten(1.0, 1.0);
  EXPECT_EQ(best_of_ten(1.0, 1.0), as_measured);
  EXPECT_NE(best_of_ten(0.1, 10.0), as_measured);
}

TEST(Model, AddsUpTheStepsOfAnLstm) {
  const auto cost = [](const char* text, const char* schedule) {
    const Problem problem = parse_problem(text);
    const Conditions conditions{.threads = 2, .isa = Isa::avx512};
    const Prediction guess = LstmModel(problem, conditions, test_machine(), test_limits(2))
                                 .predict(parse_schedule(schedule));
    EXPECT_DOUBLE_EQ(guess.executed_flops, flops(problem)) << schedule;
    EXPECT_GT(guess.seconds, flops(problem) / test_limits(2).peak_flops) << schedule;
    return guess.seconds;
  };
  const char* fused = "t { N24 K64 g @ c64 * c + h64 * h ; }";
  const char* backward =
      "t { N24 K64 elt ; N24 H64 @ k64 * g k ; } ; "
      "T N24 C64 @ k64 * g k , C64 K64 g @ n24 * n t , H64 K64 g @ n24 * n t";
  const double one = cost("lstm t1mb168sic256", fused);
  EXPECT_NEAR(cost("lstm t10mb168sic256", fused), 10 * one, 3 * one);
  EXPECT_GT(cost("lstm bwd t10mb168sic256", backward), 15 * one);
  EXPECT_GT(cost("lstm t10mb168sic256", "T N24 K64 g @ c64 * c ; t { N168 k64 g @ h64 * h ; }"),
            11 * one)
      << "one thread does all of h";
}

TEST(Model, IsFiniteWithoutMeasuredLimits) {
  const Conditions conditions{.threads = 1, .isa = Isa::avx2};
  const Model model(parse_problem(kLayer4), conditions, Machine{}, Limits{});
  const Prediction guess = model.predict(parse_schedule("n k64 p q28 @ c64 * r s"));
  EXPECT_TRUE(std::isfinite(guess.seconds));
  EXPECT_GT(guess.seconds, 0.0);
}

TEST(Model, IsFiniteForAnEmptySum) {
  const Conditions conditions{.threads = 1, .isa = Isa::avx2};
  const Model model(parse_problem("gemm f32 5x0:0x7"), conditions, test_machine(), test_limits(1));
  EXPECT_TRUE(std::isfinite(model.predict(parse_schedule("m5 n7 @ k1")).seconds));
}

TEST(Model, RefusesAProblemWithoutLoops) {
  EXPECT_THROW(Model(parse_problem("g2mb1ic8ih5oc8oh5kh1ph0"), {}, test_machine(), test_limits(1)),
               std::invalid_argument);
}

}  // namespace
}  // namespace loopbrick
