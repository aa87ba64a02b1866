#include "tuner/problem_space.h"

#include <gtest/gtest.h>

#include <set>

#include "loops/plan.h"
#include "tuner/test_machine.h"

namespace loopbrick {
namespace {

Space space_for(const std::string& text, const Conditions& conditions) {
  return problem_space(parse_problem(text), conditions, test_machine(),
                       test_limits(conditions.threads));
}

/// Every sampled point must be a schedule that the loops take, with a text that says all.
void expect_sound(const std::string& text, const Conditions& conditions, int samples) {
  const Problem problem = parse_problem(text);
  const Space space = space_for(text, conditions);
  Random random(1);
  for (int i = 0; i < samples; ++i) {
    const auto point = sample(space, random);
    ASSERT_TRUE(point) << text << " " << to_string(conditions);
    const std::string schedule = space.text(*point);
    const auto refusal = why_not(problem, parse_schedule(schedule), conditions);
    ASSERT_FALSE(refusal) << text << " " << to_string(conditions) << " '" << schedule
                          << "': " << to_string(*refusal);
    ASSERT_EQ(to_string(parse_schedule(schedule)), schedule);
    ASSERT_GT(space.predict(*point), 0.0) << schedule;
    ASSERT_LT(space.predict(*point), 1e4) << schedule;
  }
}

std::vector<std::string> odd_problems() {
  return {"conv bwd_d f32 mb2ic64ih56oc256oh56kh1ph0",
          "conv bwd_d f32 mb2ic512ih7oc512oh7kh3ph1",
          "conv bwd_d f32 mb2ic3ih224oc64oh112kh7sh2ph3",
          "conv bwd_d f32 mb2ic256ih56oc512oh28kh1sh2ph0",
          "nhwc conv bwd_d f32 mb2ic96ih14oc208oh14kh3ph1",
          "conv bwd_d f32 mb1ic80ih1iw1oc13oh3ow1kh1kw1sh1sw2ph1pw0dh0dw1",
          "conv bwd_d f32 mb1ic128ih11iw1oc17oh3ow3kh1kw1sh4sw4ph0pw5dh2dw0",
          "conv bwd_d f32 mb2ic128ih14oc160oh7kh3sh2ph1",
          "conv bwd_d f32 mb1ic28ih9oc12oh11kh1ph1",
          "conv bwd_w f32 mb2ic64ih56oc256oh56kh1ph0",
          "conv bwd_w f32 mb2ic512ih7oc512oh7kh3ph1",
          "conv bwd_w f32 mb2ic3ih224oc64oh112kh7sh2ph3",
          "conv bwd_w f32 mb2ic256ih56oc512oh28kh1sh2ph0",
          "nhwc conv bwd_w f32 mb2ic96ih14oc208oh14kh3ph1",
          "conv bwd_w f32 mb1ic80ih1iw1oc13oh3ow1kh1kw1sh1sw2ph1pw0dh0dw1",
          "conv bwd_w f32 mb1ic128ih11iw1oc17oh3ow3kh1kw1sh4sw4ph0pw5dh2dw0",
          "conv bwd_w f32 mb9ic1ih1oc1oh1kh1ph0",
          "mb2ic64ih56oc256oh56kh1ph0",
          "mb2ic512ih7oc512oh7kh3ph1",
          "mb2ic3ih224oc64oh112kh7sh2ph3",
          "mb2ic256ih56oc512oh28kh1sh2ph0",
          "nhwc mb2ic96ih14oc208oh14kh3ph1",
          "mb1ic80ih1iw1oc13oh3ow1kh1kw1sh1sw2ph1pw0dh0dw1",
          "mb1ic128ih11iw1oc17oh3ow3kh1kw1sh4sw4ph0pw5dh2dw0",
          "nhwc mb1ic1009ih4oc1001oh4kh1ph0",
          "mb1ic1ih1oc1oh1kh1ph0",
          "mb3ic33ih7oc17oh7kh3ph1",
          "mb1ic6ih1oc96oh1kh1ph0_iw300ow300kw1",
          "mb1ic16ih1oc96oh1kh1ph0_iw300ow300kw5pw2",
          "mb1ic28ih9oc12oh11kh1ph1",
          "mb2ic32ih67iw4oc48oh23ow5kh1kw1sh3sw1pw1",
          "mb1ic16ih20oc32oh16kh3ph0dh1",
          "mb2ic20ih12iw14oc36oh12ow14kh5kw3ph2pw1",
          "gemm f32 64x33:33x64bs16ld40:80:64",
          "gemm f32 1x1:1x40bs261",
          "gemm f32 300x3000:3000x1000bs2",
          "lstm fwd f32 t3mb168sic256slc512",
          "lstm train f32 t2mb5sic34slc17",
          "lstm bwd f32 t3mb168sic256slc512",
          "lstm bwd f32 t1mb1sic1",
          "lstm bwd f32 t20mb300sic1000slc33",
          "fc fwd f32 mb168ic256oc512",
          "fc bwd_d f32 mb168ic256oc192",
          "fc bwd_w f32 mb168ic256oc512",
          "nhwc fc fwd f32 mb7ic100oc300",
          "nhwc fc bwd_d f32 mb7ic100oc300",
          "nhwc fc bwd_w f32 mb7ic100oc300",
          "fc fwd f32 mb1ic17oc33",
          "fc bwd_d f32 mb1ic17oc33",
          "fc bwd_w f32 mb3000ic17oc33",
          "gemm f32 5x0:0x7",
          "gemm f32 5x3:3x7bs0"};
}

TEST(ProblemSpace, EveryPointIsAScheduleThatTheLoopsTake) {
  for (const std::string& text : odd_problems()) {
    for (const int threads : {1, 2, 3, 4, 7}) {
      for (const Isa isa : {Isa::ref, Isa::avx2, Isa::avx512}) {
        expect_sound(text, {.threads = threads, .isa = isa}, 25);
      }
    }
  }
}

TEST(ProblemSpace, WeightsAreTransposedOnceWhereTheConditionsSaySo) {
  for (const char* text :
       {"conv bwd_d f32 mb2ic64ih14oc128oh7kh3sh2ph1", "fc bwd_d f32 mb20ic128oc64"}) {
    const Conditions once{.threads = 2, .isa = Isa::avx512, .transposes_once = true};
    expect_sound(text, once, 25);
    const Space space = space_for(text, once);
    Random random(1);
    for (int i = 0; i < 25; ++i) {
      const auto point = sample(space, random);
      EXPECT_TRUE(space.text(*point).starts_with("once: pack(w') ; ")) << space.text(*point);
      if (space.point) {
        EXPECT_EQ(space.point(space.text(*point)), point);
      }
    }
  }
}

TEST(ProblemSpace, SmallChannelCountsHaveSchedules) {
  for (int channels = 1; channels <= 33; ++channels) {
    const std::string sizes =
        "ic" + std::to_string(channels) + "ih7oc" + std::to_string(34 - channels) + "kh3ph1";
    for (const char* layout : {"", "nhwc "}) {
      expect_sound(layout + ("mb2" + sizes), {.threads = 2, .isa = Isa::avx512}, 5);
    }
  }
}

/// A schedule of the store is found again in the space, whatever machine it is searched on.
TEST(ProblemSpace, EveryTextLeadsBackToItsPoint) {
  for (const std::string& text : odd_problems()) {
    for (const int threads : {1, 2, 6}) {
      const Space space = space_for(text, {.threads = threads, .isa = Isa::avx512});
      if (!space.point) continue;  // of a gemm
      Random random(1);
      for (int i = 0; i < 100; ++i) {
        const auto point = sample(space, random);
        EXPECT_EQ(space.point(space.text(*point)), point) << text << " " << space.text(*point);
      }
    }
  }
}

TEST(ProblemSpace, ATextFromElsewhereHasNoPoint) {
  const Space space = space_for("mb2ic64ih14oc64oh14kh3ph1", {.threads = 2, .isa = Isa::avx512});
  for (const char* text :
       {"N k64 p q13 @ c64 * r s", "N k64 p q14 @ c64 * r s", "n k64 p q14 @ c64 * r s",
        "N k64 p q14 @ c64 * s r", "pack(x) N k64 p q14 @ c64 * r s", "M n @ k1",
        "N k64 p2 q14 @ c64 * r s"}) {
    EXPECT_FALSE(space.point(text)) << text;
  }
  EXPECT_TRUE(space.point("N p k64 q14 @ c64 * r s"));
}

/// Whatever is in the space is there under one text only.
TEST(ProblemSpace, NoScheduleIsThereTwice) {
  for (const char* text :
       {"mb1ic8ih4oc32oh4kh1ph0", "mb2ic8ih6oc16oh6kh3ph1", "gemm f32 40x100:100x70bs3",
        "fc bwd_d f32 mb20ic128oc64", "fc bwd_w f32 mb20ic128oc64",
        "conv bwd_d f32 mb1ic8ih4oc32oh4kh1ph0", "conv bwd_d f32 mb2ic16ih6oc16oh3kh3sh2ph1",
        "conv bwd_w f32 mb2ic16ih6oc16oh6kh3ph1", "lstm fwd f32 t3mb60sic32slc16",
        "lstm bwd f32 t3mb30sic16slc5"}) {
    const Space space = space_for(text, {.threads = 2, .isa = Isa::avx2});
    std::set<std::string> texts;
    std::int64_t points = 0;
    walk(space, [&](const Point& point) {
      texts.insert(space.text(point));
      return ++points < 100'000;
    });
    EXPECT_EQ(static_cast<std::int64_t>(texts.size()), points) << text;
    EXPECT_GT(points, 100) << text;
  }
}

/// Counting equal subtrees once must not change what is counted.
TEST(ProblemSpace, StatesTellSubtreesApart) {
  for (const char* text :
       {"mb2ic8ih6oc16oh6kh3ph1", "mb1ic128ih4oc32oh4kh1ph0", "mb2ic8ih5oc32oh3kh1sh2ph0",
        "nhwc mb1ic20ih3oc40oh3kh1ph0", "mb1ic128ih2oc8oh2kh3ph1",
        "conv bwd_d f32 mb2ic64ih3oc8oh3kh3ph1", "conv bwd_d f32 mb2ic64ih4oc8oh2kh3sh2ph1",
        "lstm fwd f32 t3mb60sic32slc16", "lstm bwd f32 t3mb60sic16slc80"}) {
    for (const int threads : {1, 2}) {
      Space space = space_for(text, {.threads = threads, .isa = Isa::avx2});
      const Counts quick = count(space);
      space.state = nullptr;
      const Counts plain = count(space);
      EXPECT_EQ(quick.leaves, plain.leaves) << text;
      ASSERT_EQ(quick.cuts.size(), plain.cuts.size());
      for (std::size_t i = 0; i < plain.cuts.size(); ++i) {
        EXPECT_EQ(quick.cuts[i].combinations, plain.cuts[i].combinations) << plain.cuts[i].sentence;
      }
      EXPECT_LT(quick.asked, plain.asked);
    }
  }
}

TEST(ProblemSpace, LeavesAndCutsAreAllThereIs) {
  const Counts counts = count(space_for("mb2ic64ih56oc256oh56kh1ph0", {.threads = 2}));
  std::int64_t all = counts.leaves;
  for (const Cut& cut : counts.cuts) all += cut.combinations;
  EXPECT_EQ(all, counts.raw);
  EXPECT_GT(counts.leaves, 100'000'000);
}

/// The schedules that people would write by hand must be found by a search.
TEST(ProblemSpace, HoldsWhatIsKnownToBeGood) {
  const struct {
    const char* problem;
    const char* schedule;
  } kKnown[] = {{"mb1ic16ih4oc32oh4kh3ph1", "P k16 q4 @ c16 * r s"},
                {"mb2ic8ih3oc16oh3kh1ph0", "N k16 pq9 @ c8"},
                {"mb2ic16ih6oc32oh3kh1sh2ph0", "N pack(x) k16 pq9 @ c16"},
                {"lstm t3mb48sic128", "t { N24 K64 g @ c64 * c + h64 * h ; }"},
                {"lstm t3mb48sic128", "T N24 K64 g @ c64 * c ; t { N24 K64 g @ h64 * h ; }"}};
  for (const auto& known : kKnown) {
    const Space space = space_for(known.problem, {.threads = 2, .isa = Isa::avx512});
    bool found = false;
    walk(space, [&](const Point& point) {
      found = space.text(point) == known.schedule;
      return !found;
    });
    EXPECT_TRUE(found) << known.schedule;
  }
}

TEST(ProblemSpace, AProblemWithoutLoopsIsRefusedWithItsReason) {
  for (const char* text : {"g2mb1ic8ih5oc8oh5kh1ph0", "conv bwd_w f32 g2mb2ic8ih5oc8oh5kh1ph0"}) {
    const Space space = space_for(text, {.threads = 2});
    ASSERT_TRUE(space.why_not({})) << text;
    EXPECT_NE(to_string(*space.why_not({})), "") << text;
    Random random(1);
    EXPECT_FALSE(sample(space, random));
    EXPECT_EQ(count(space).leaves, 0);
  }
}

}  // namespace
}  // namespace loopbrick
