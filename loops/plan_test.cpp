#include "loops/plan.h"

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "kernels/text.h"
#include "loops/contraction.h"
#include "problems/operands.h"

namespace loopbrick {
namespace {

/// Plain arrays for every operand of a problem.
struct Data {
  explicit Data(const Problem& problem) {
    for (const Operand& operand : operands(problem)) {
      memory.emplace_back(static_cast<std::size_t>(elements(operand)));
      arrays.emplace_back(memory.back());
    }
  }
  std::vector<std::vector<float>> memory;
  Arrays arrays;
};

/// What is off when `schedule` runs `problem`, or "" if nothing is.
std::string run_and_compare(const Problem& problem, std::string_view schedule,
                            const Conditions& conditions, Fill kind) {
  Data want(problem);
  Data got(problem);
  fill(problem, kind, 7, want.arrays);
  fill(problem, kind, 7, got.arrays);
  reference(problem, want.arrays, 2);
  const auto prepared = kLoopbrick.prepare(problem, schedule, conditions);
  if (const auto* no = std::get_if<Refusal>(&prepared)) return "refused: " + to_string(*no);
  const Runnable& runnable = std::get<Runnable>(prepared);
  runnable.load(got.arrays);
  runnable.run();
  runnable.run();  // nothing may be left over from the first
  runnable.unload(got.arrays);
  const std::vector<Mismatch> off = compare(problem, kind, got.arrays, want.arrays);
  return off.empty() ? "" : to_string(off[0], problem);
}

struct Example {
  const char* problem;
  const char* schedule;

  friend std::ostream& operator<<(std::ostream& out, const Example& example) {
    return out << example.problem << " | " << example.schedule;
  }
};

class PlanExamples : public testing::TestWithParam<Example> {};

TEST_P(PlanExamples, MatchTheReferenceOnEveryIsaAndThreadCount) {
  const Problem problem = parse_problem(GetParam().problem);
  for (const Isa isa : {Isa::ref, Isa::avx2, Isa::avx512}) {
    if (isa > best_isa()) continue;
    for (const int threads : {1, 2, 3, 4}) {
      const std::string text = GetParam().schedule;
      if (text.find('/') != std::string::npos && threads != 4) continue;
      for (const Fill kind : {Fill::integers, Fill::uniform, Fill::ones}) {
        const Conditions conditions{
            .threads = threads, .isa = isa, .transposes_once = text.starts_with("once:")};
        EXPECT_EQ(run_and_compare(problem, text, conditions, kind), "")
            << "t" << threads << " " << to_string(isa) << " " << to_string(kind);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Conv, PlanExamples,
    testing::Values(
        Example{"mb2ic64ih9oc64oh9kh3ph1", "N K64 p q9 @ c64 * c r s"},
        Example{"mb2ic64ih9oc64oh9kh3ph1", "N K64 p q4 @ c64 * c r s"},
        Example{"mb2ic64ih9oc64oh9kh3ph1", "N K32 P q5 @ c64 * s r c tile=3x16"},
        Example{"mb1ic128ih7oc128oh7kh3ph1", "P K64 q7 @ c64 * c r s"},
        Example{"mb1ic128ih7oc128oh7kh3ph1", "P K64 c64 q7 @ c64 * r s"},
        Example{"mb1ic128ih7oc128oh7kh3ph1", "P K64 r s q7 @ c64 * c"},
        Example{"mb1ic128ih7oc128oh7kh3ph1", "P K64 s q3 @ c32 * c r"},
        Example{"mb1ic128ih7oc128oh7kh3ph1", "P K64 q7 @ c64 * c r s batch=address"},
        Example{"mb1ic128ih7oc128oh7kh3ph1", "K64 P pack(x) q7 @ c64 * c r s"},
        Example{"mb1ic128ih7oc128oh7kh3ph1", "K64 P2 pack(x) p q5 @ c64 * c r s rim=copy"},
        Example{"mb1ic128ih7oc128oh7kh3ph1", "K64 P3 pack(x) q7 @ c64 * c r s rim=copy"},
        Example{"mb2ic128ih14oc64oh7kh1sh2", "N K64 p7 q7 @ c64 * c"},
        Example{"mb2ic128ih14oc64oh7kh1sh2", "N P4 pack(x) k64 pq28 @ c64 * c batch=stride"},
        Example{"mb2ic128ih14oc64oh7kh1sh2", "N P4 pack(x) k64 pq11 @ c64 * c"},
        Example{"mb2ic128ih14oc64oh7kh1sh2", "N P4 k64 p2 q7 @ c64 * c"},
        Example{"mb2ic64ih14oc256oh14kh1", "N PQ28 k64 @ c64 * c"},
        Example{"mb2ic64ih14oc256oh14kh1", "N K128 pq30 k64 @ c64 * c rotate=k"},
        Example{"mb2ic64ih14oc256oh14kh1", "N/2 K64/2 pq49 @ c64 * c store=stream"},
        Example{"mb4ic3ih23oc64oh12kh7sh2ph3", "N P k64 q12 @ c3 * r s"},
        Example{"mb4ic3ih23oc64oh12kh7sh2ph3", "N P k64 q5 @ c3 * c r s deal=dynamic"},
        Example{"mb1ic17ih9oc33oh9kh3ph1", "K16 P q9 @ c5 * c r s"},
        Example{"mb1ic17ih9oc33oh9kh3ph1", "P k33 q2 @ c17 * r s ahead=1"},
        Example{"mb1ic20ih11oc36oh11kh5ph2+bias+relu", "P K16 c8 q4 @ c8 * r s"},
        Example{"mb1ic20ih11oc36oh11kh5ph2+bias+relu", "P K36 q11 @ c20 * c r s"},
        Example{"conv fwd f32 nhwc mb2ic64ih9oc96oh9kh3ph1+relu", "N K48 p q9 @ c64 * c r s"},
        Example{"conv fwd f32 nhwc mb2ic96ih14oc64oh7kh1sh2", "N P2 pack(x) k64 pq7 @ c32 * c"},
        Example{"mb1ic8ih21oc8oh21kh21ph10", "P k8 q21 @ c8 * r s"},
        Example{"mb1ic32ih67iw4oc48oh23ow5kh1kw1sh3sw1pw1", "P k16 q5 @ c32 * c"},
        Example{"mb1ic16ih12oc16oh5kh3ph1sh3dh1", "P k16 q5 @ c16 * c r s"},
        Example{"mb1ic16ih5oc16oh8kh3ph3", "P k16 q8 @ c16 * c r s"},
        Example{"mb1ic16ih8iw9oc32oh8ow4kh3kw3ph1pw1sw2", "P k32 q4 @ c16 * c r s"}));

INSTANTIATE_TEST_SUITE_P(
    ConvByData, PlanExamples,
    testing::Values(
        Example{"conv bwd_d f32 mb2ic64ih9oc64oh9kh3ph1", "N C64 h w9 @ k64 * k r s"},
        Example{"conv bwd_d f32 mb1ic128ih7oc64oh7kh3ph1", "C32 pack(w') n h w4 @ k64 * k r s"},
        Example{"conv bwd_d f32 mb1ic128ih7oc64oh5kh3ph0", "H C64 r w7 @ k32 * k s"},
        Example{"conv bwd_d f32 mb2ic64ih9oc64oh9kh3ph1",
                "once: pack(w') ; N C32 h w9 @ k64 * k r s"},
        Example{"conv bwd_d f32 mb1ic64ih7oc128oh7kh3ph1",
                "H3 pack(dy) c64 h w7 @ k64 * k r s rim=copy"},
        Example{"conv bwd_d f32 mb2ic64ih14oc256oh14kh1ph0", "N HW28 c64 @ k64 * k batch=stride"},
        Example{"conv bwd_d f32 mb2ic128ih14oc64oh7kh1sh2ph0", "N c64 f h w7 @ k64 * k"},
        Example{"conv bwd_d f32 mb2ic128ih14oc64oh7kh1sh2ph0", "f N H7 c64 w7 @ k64 * k"},
        Example{"conv bwd_d f32 mb2ic32ih14oc64oh7kh3sh2ph1",
                "C32 pack(w') f n h w7 @ k64 * k r s"},
        Example{"conv bwd_d f32 mb2ic3ih23oc64oh12kh7sh2ph3", "N f h w12 c3 @ k64 * r s"},
        Example{"conv bwd_d f32 mb2ic3ih24oc64oh12kh7sh2ph3", "N f h w4 c12 @ k64 * r s"},
        Example{"conv bwd_d f32 mb2ic2ih10iw14oc20oh10ow14kh3kw3ph1pw1",
                "N pack(dy) h c14 w @ k10 * k r s"},
        Example{"conv bwd_d f32 nhwc mb1ic5ih9iw6oc12oh5ow3kh3kw3sh2sw2ph1pw1",
                "f H c10 w @ k12 * r s"},
        Example{"conv bwd_d f32 mb1ic17ih10oc33oh4kh3ph1sh3", "f C5 r s h w2 @ k11 * k"},
        Example{"conv bwd_d f32 nhwc mb1ic20ih13oc12oh5kh3sh2ph1dh1", "C10 f h w7 @ k5 * k r s"},
        Example{"conv bwd_d f32 mb1ic16ih11iw9oc16oh2ow3kh1kw2sh5sw3dw1",
                "C16 f h w3 @ k16 * r s"}));

INSTANTIATE_TEST_SUITE_P(
    ConvByWeights, PlanExamples,
    testing::Values(
        Example{"conv bwd_w f32 mb4ic64ih9oc64oh9kh3ph1", "N+ k64 c64 r s p3 @ q9 * p"},
        Example{"conv bwd_w f32 mb4ic64ih9oc64oh9kh3ph1", "N+ p4 r s k64 c32 @ q4 * q p"},
        Example{"conv bwd_w f32 mb4ic64ih9oc128oh9kh3ph1", "K64 C32 r s n @ q9 * p"},
        Example{"conv bwd_w f32 mb3ic64ih9oc64oh9kh3ph1", "R S k64 c64 @ q9 * n p"},
        Example{"conv bwd_w f32 mb3ic64ih9oc64oh9kh3ph1", "c64 n P2+ k32 s r q4 @ q2 * q p"},
        Example{"conv bwd_w f32 mb4ic64ih7oc128oh7kh3ph1", "N/2+ K64/2 c64 r s @ q7 * p"},
        Example{"conv bwd_w f32 mb4ic128ih14oc64oh7kh1sh2ph0", "N+ p2 k64 c64 @ q7 * p"},
        Example{"conv bwd_w f32 mb4ic3ih23oc64oh12kh7sh2ph3", "N+ k64 c3 r s p4 @ q12 * p"},
        Example{"conv bwd_w f32 mb1ic17ih9oc33oh9kh3ph1", "K11 c17 r s n p2 @ q4 * q p"},
        Example{"conv bwd_w f32 nhwc mb2ic20ih13oc12oh5kh3sh2ph1dh1", "C10 k12 r s n @ q5 * p"},
        Example{"conv bwd_w f32 mb1ic8ih5oc8oh8kh3ph3", "K8 c8 r s n p @ q8"},
        Example{"conv bwd_w f32 mb1ic8ih3iw4oc8oh5ow3kh1kw1ph1pw1sw2", "K8 c8 n r s p @ q3"}));

INSTANTIATE_TEST_SUITE_P(
    Gemm, PlanExamples,
    testing::Values(Example{"gemm f32 64x33:33x64bs16ld40:80:64", "M6 n64 @ k33 * b"},
                    Example{"gemm f32 64x33:33x64bs16", "M7 N48 @ k8 * k b"},
                    Example{"gemm f32 17x100:100x70bs3", "M b k32 n32 @ k16 * k"},
                    Example{"gemm f32 1x1:1x1bs261", "M n @ k1 * b"},
                    Example{"gemm f32 5x0:0x7", "M n7 @ k1 * k b"},
                    Example{"gemm f32 5x3:3x7bs0", "M n7 @ k3 * b"},
                    Example{"gemm f32 40x30:30x25ld33:31:29", "M13 N10 @ k30 batch=stride"},
                    Example{"fc fwd f32 mb33ic128oc96+bias+relu", "N7 K32 @ c32 * c"},
                    Example{"fc fwd f32 mb33ic128oc96+bias+sigmoid", "N7 K32 @ c32 * c"},
                    Example{"fc fwd f32 mb5ic17oc33+tanh", "N2 k33 @ c17"},
                    Example{"fc fwd f32 mb7ic19oc45+bias+gelu_erf", "N3 k45 @ c19"},
                    Example{"fc fwd f32 mb33ic128oc96+gelu_tanh", "N7 K32 @ c32 * c"},
                    Example{"fc bwd_d f32 mb33ic128oc96", "C32 n11 @ k32 * k"},
                    Example{"fc bwd_d f32 mb33ic128oc96", "C64 pack(w') n11 c32 @ k32 * k"},
                    Example{"fc bwd_d f32 mb33ic128oc96", "k64 C32 pack(w') n11 @ k16 * k"},
                    Example{"nhwc fc bwd_d f32 mb5ic100oc30", "C40 pack(w') n2 c20 @ k7 * k"},
                    Example{"fc bwd_w f32 mb33ic128oc96", "C32 K32 n16 @ n8 * n"}));

INSTANTIATE_TEST_SUITE_P(
    FcBackward, PlanExamples,
    testing::Values(Example{"fc bwd_d f32 mb33ic128oc96+relu", "C32 n11 @ k32 * k"},
                    Example{"fc bwd_d f32 mb33ic128oc96+sigmoid", "C64 pack(w') n11 c32 @ k32 * k"},
                    Example{"fc bwd_d f32 mb33ic128oc96+gelu_erf",
                            "once: pack(w') ; C32 n11 @ k32 * k"},
                    Example{"nhwc fc bwd_d f32 mb5ic100oc30+tanh", "C40 pack(w') n2 c20 @ k7 * k"},
                    Example{"fc bwd_d f32 mb1ic1oc1+gelu_tanh", "C1 n1 @ k1"},
                    Example{"fc bwd_w f32 mb33ic128oc96+bias", "C32 K32 n16 @ n8 * n"},
                    Example{"fc bwd_w f32 mb33ic128oc96+bias+relu", "N8+ c32 k32 @ n8"},
                    Example{"fc bwd_w f32 mb33ic128oc192+bias+gelu_erf", "C32 K64 @ n33"},
                    Example{"fc bwd_w f32 nhwc mb7ic19oc133+bias+sigmoid", "C5 k133 @ n7"},
                    Example{"fc bwd_w f32 mb7ic19oc133+gelu_tanh", "C5 K50 @ n7"},
                    Example{"fc bwd_w f32 mb1ic1oc1+bias+tanh", "C1 k1 @ n1"}));

TEST(Plan, SaysItsWorkspaceForTheGradientOfTheSums) {
  const Conditions conditions{.threads = 1, .isa = Isa::avx2};
  const auto bytes = [&](const char* text, const char* schedule) {
    KernelCache kernels;
    return Plan(parse_problem(text), parse_schedule(schedule), conditions, kernels)
        .workspace_bytes();
  };
  EXPECT_EQ(bytes("fc bwd_w mb33ic128oc96+bias", "C32 K32 @ n33"), 0);
  EXPECT_EQ(bytes("fc bwd_w mb33ic128oc96+bias+relu", "C32 K32 @ n33"), 33 * 96 * 4);
  EXPECT_EQ(bytes("fc bwd_w mb3ic5oc7+tanh", "C5 K7 @ n3"), 128);  // whole cache lines
}

TEST(Plan, RefusesWhatCannotRun) {
  const Conditions two{.threads = 2, .isa = Isa::avx2};
  const auto why = [&](const char* problem, const char* schedule) {
    const auto no = why_not(parse_problem(problem), parse_schedule(schedule), two);
    return no ? to_string(*no) : std::string("fine");
  };
  const char* three = "mb2ic128ih14oc128oh14kh3ph1";
  const char* one = "mb2ic128ih14oc128oh7kh1sh2";
  EXPECT_EQ(why(three, "N K64 p q14 @ c64 * c r s"), "fine");
  EXPECT_EQ(why(three, "N p q14 @ c64 * c r s"), "nobody walks k");
  EXPECT_EQ(why(three, "N K64 p q14 @ c64 * c r"), "nobody walks s");
  EXPECT_EQ(why(three, "N K64 p q14 @ c64 * r s"), "nobody walks c");
  EXPECT_EQ(why(three, "N K64 c64 p q14 @ c64 * c r s"),
            "a loop walks c already: it has no place in the batch");
  EXPECT_EQ(why(three, "N C64 k64 p q14 @ c64 * r s"), "c is summed: threads cannot share it");
  EXPECT_EQ(why(three, "N K64 p q14 @ c128 * r s"),
            "128 of c do not divide the channel block of 64");
  EXPECT_EQ(why(three, "N K48 p q14 @ c64 * c r s"),
            "48 of k do not divide the channel block of 64");
  EXPECT_EQ(why(three, "N K64 p k64 q14 @ c64 * c r s"),
            "a step of k must be smaller than the 64 around it, not 64");
  EXPECT_EQ(why(three, "N K64 pq28 @ c64 * c r s"),
            "flattened pixels cannot cross padding: a copy with rim=copy, or two loops");
  EXPECT_EQ(why(three, "N K64 p2 q14 @ c64 * c r s"),
            "a call over 2 lines of p cannot cross padding: the last step of p is 1");
  EXPECT_EQ(why(three, "N K64 p q14 @ c64 * c r s rim=copy"),
            "rim=copy needs a copy of the input to hold the padding");
  EXPECT_EQ(why(one, "N K64 pq7 @ c64 * c"),
            "flattened rows do not lie on one stride: a copy, or two loops");
  EXPECT_EQ(why(one, "N K64 q pq7 @ c64 * c"), "q stands in pq already");
  EXPECT_EQ(why(one, "N/3 K64 p q7 @ c64 * c"),
            "/ways stands behind every parallel loop or behind none");
  EXPECT_EQ(why(one, "N/3 K64/1 p q7 @ c64 * c"), "the ways multiply to 3, not to the 2 threads");
  EXPECT_EQ(why(one, "N k64 P q7 @ c64 * c"), "parallel loops stand together: p does not");
  EXPECT_EQ(why(one, "n k64 p q7 @ c64 * c"), "no loop is parallel, but there are 2 threads");
  EXPECT_EQ(why(one, "N2 k64 p q7 @ c64 * c"),
            "the last step of n must be 1, not 2: it is no side of a call");
  EXPECT_EQ(why(one, "N k64 p q7 b @ c64 * c"), "this problem has no axis b");
  EXPECT_EQ(why(one, "N k64 p q7 @ k64 * c"), "the depth of a call is along c");
  EXPECT_EQ(why(one, "N k64 p q7 @ c32 * c batch=stride"),
            "batch=stride needs a depth of a whole channel block of 64, not 32");
  EXPECT_EQ(why(one, "N k64 p q7 @ c64 * c tile=40x64"),
            "a tile of 40 rows and these columns does not fit the registers");
  EXPECT_EQ(why(one, "N k64 p q7 @ c64 * c rotate=c"),
            "rotate=c: only an output axis can start anywhere");
  EXPECT_EQ(why(one, "N k64 p q7 @ c64 * c next=k"), "next=k: no loop over the input walks it");
  EXPECT_EQ(why(one, "N k64 p q7 @ c64 * c next=s"), "next=s: no loop over the input walks it");
  EXPECT_EQ(why("g2mb2ic128ih14oc128oh7kh1sh2", "N k64 p q7 @ c64 * c"),
            "groups have no loops: 2 groups");
  const char* by_data = "conv bwd_d f32 mb2ic128ih14oc128oh7kh3sh2ph1";
  EXPECT_EQ(why(by_data, "N c64 f h w7 @ k64 * k r s"), "fine");
  EXPECT_EQ(why(by_data, "once: pack(w') ; N c64 f h w7 @ k64 * k r s"),
            "'once:' leaves work out of the time: it needs conditions of its own, --once");
  EXPECT_EQ(why(by_data, "once: pack(w') ; N c64 pack(w') f h w7 @ k64 * k r s"),
            "the weights are transposed once already");
  EXPECT_EQ(why(by_data, "once: pack(w) ; N c64 f h w7 @ k64 * k r s"),
            "this problem runs as one step, the schedule has 2");
  EXPECT_EQ(why(three, "once: pack(w') ; N K64 p q14 @ c64 * c r s"),
            "this problem transposes no weights: 'once: pack(w') ;' is for passes by data");
  EXPECT_EQ(why(by_data, "N c64 f2 f h w7 @ k64 * k r s"),
            "f is walked by one loop, one at a time");
  EXPECT_EQ(why(by_data, "N c64 h w7 @ k64 * k r s"), "nobody walks f");
  EXPECT_EQ(why(by_data, "N c64 h f w7 @ k64 * k r s"),
            "the loop over h stands right of that over f");
  EXPECT_EQ(why(by_data, "F N c64 h w7 @ k64 * k r s"),
            "f is walked by every thread: phases differ in size");
  EXPECT_EQ(why(by_data, "N f c64 pack(w') h w7 @ k64 * k r s"),
            "the copy stands left of the loop over f");
  EXPECT_EQ(why(by_data, "N pack(dy) c64 f h w7 @ k64 * k r s"),
            "a strided pass by data has no copy of dy");
  EXPECT_EQ(why(by_data, "N c64 f hw49 @ k64 * k r s"),
            "this problem flattens no pair that begins with h");
  EXPECT_EQ(why(by_data, "N k64 p q7 @ c64 * c"), "this problem has no axis p");
  const char* by_weights = "conv bwd_w f32 mb2ic128ih14oc128oh14kh3ph1";
  EXPECT_EQ(why(by_weights, "N+ k64 c64 r s p7 @ q14 * p"), "fine");
  EXPECT_EQ(why(by_weights, "K64 c64 r2 r s n @ q14 * p"),
            "r is walked by one loop, one at a time");
  EXPECT_EQ(why(by_weights, "P7+ r s2 s k64 c64 @ q14 * p n"),
            "s is walked by one loop, one at a time");
  EXPECT_EQ(why(by_weights, "N k64 c64 r s p7 @ q14 * p"),
            "n is summed: threads share it with '+' only");
  EXPECT_EQ(why(by_weights, "K64+ c64 r s n p7 @ q14 * p"), "k is not summed: it cannot have '+'");
  EXPECT_EQ(why(by_weights, "N+ K64 c64 r s p7 @ q14 * p"),
            "'+' beside other parallel loops needs ways, like n/2+");
  EXPECT_EQ(why(by_weights, "R P7+ k64 c64 s n @ q14 * p"),
            "'+' beside other parallel loops needs ways, like p/2+");
  EXPECT_EQ(why(by_weights, "r P7+ k64 c64 s n @ q14 * p"),
            "the loop with '+' stands left of one over r");
  EXPECT_EQ(why(by_weights, "P14+ k64 c64 r s n @ q14 * p"),
            "'+' has at most as many ways as p has rounds: 1, not 2");
  EXPECT_EQ(why(by_weights, "N+ k64 c64 r p7 @ q14 * p s"), "nobody walks s");
  EXPECT_EQ(why(by_weights, "N+ k64 c128 r s p7 @ q14 * p"),
            "128 of c do not divide the channel block of 64");
  EXPECT_EQ(why(three, "C+ k64 n p q14 @ c64 * r s"),
            "this pass has no private sums: c cannot have '+'");
  EXPECT_TRUE(std::holds_alternative<Refusal>(
      contraction(Problem{.shape = Fc{.n = 2, .c = 3, .k = 4}, .pass = Pass::train})));
  const char* fc = "fc bwd_d f32 mb33ic128oc96";
  EXPECT_EQ(why(fc, "C64 pack(x) n11 @ k32 * k"), "the operand to pack is w, transposed: pack(w')");
  EXPECT_EQ(why(fc, "pack(w') C64 n11 @ k32 * k"),
            "pack(w') stands right of the parallel loops: c is right of it");
  EXPECT_EQ(why("fc fwd f32 mb33ic128oc96", "K32 pack(w') n11 @ c64 * c"),
            "this problem packs nothing");
  EXPECT_EQ(why("fc bwd_w f32 mb33ic128oc96", "C128 K32 @ n33"),
            "128 of c do not divide the channel block of 64");
  EXPECT_EQ(why("gemm f32 5x3:3x7bs0", "M n7 b @ k3"),
            "b is an empty sum: it belongs to the batch");
}

/// Runs twice with other weights in between; returns what changed in the result.
bool follows_its_weights(const char* problem_text, const char* schedule) {
  const Problem problem = parse_problem(problem_text);
  KernelCache kernels;
  const Plan plan(problem, parse_schedule(schedule),
                  {.threads = 2, .isa = Isa::ref, .transposes_once = true}, kernels);
  std::vector<std::vector<float>> own;
  std::vector<void*> pointers;
  for (int i = 0; i < 3; ++i) {
    own.emplace_back(static_cast<std::size_t>(plan.laid_out_bytes(i)) / sizeof(float), 1.0F);
  }
  for (auto& each : own) pointers.push_back(each.data());
  std::vector<std::byte> workspace(static_cast<std::size_t>(plan.workspace_bytes()));
  plan.prepare(pointers, workspace);
  plan.run(pointers, workspace);
  const std::vector<float> first = own[2];
  std::fill(own[1].begin(), own[1].end(), 2.0F);
  plan.run(pointers, workspace);
  return own[2] != first;
}

TEST(Plan, NewWeightsGiveANewResultUnlessTheTextSaysOnce) {
  for (const char* schedule : {"N C32 h w7 @ k64 * k r s", "C32 pack(w') n h w7 @ k64 * k r s"}) {
    EXPECT_TRUE(follows_its_weights("conv bwd_d f32 mb2ic64ih7oc64oh7kh3ph1", schedule));
  }
  EXPECT_FALSE(follows_its_weights("conv bwd_d f32 mb2ic64ih7oc64oh7kh3ph1",
                                   "once: pack(w') ; N C32 h w7 @ k64 * k r s"));
  EXPECT_TRUE(
      follows_its_weights("conv fwd f32 mb2ic64ih7oc64oh7kh3ph1", "N K32 p q7 @ c64 * c r s"));
}

TEST(Plan, OnceIsTimedUnderItsOwnConditionsOnlyAndIncludesNoTransposition) {
  const Problem problem = parse_problem("conv bwd_d f32 mb2ic64ih7oc64oh7kh3ph1");
  const char* schedule = "once: pack(w') ; N c64 h w7 @ k64 * k r s";
  const Conditions usual{.threads = 2, .isa = Isa::ref};
  Conditions once = usual;
  once.transposes_once = true;
  EXPECT_TRUE(std::holds_alternative<Refusal>(kLoopbrick.prepare(problem, schedule, usual)));
  const auto prepared = kLoopbrick.prepare(problem, schedule, once);
  ASSERT_TRUE(std::holds_alternative<Runnable>(prepared));
  EXPECT_EQ(std::get<Runnable>(prepared).included, "");
}

TEST(Plan, ConstructingWhatCannotRunThrowsTheSentence) {
  KernelCache kernels;
  try {
    const Plan plan(parse_problem("mb2ic64ih9oc64oh9kh3ph1"), parse_schedule("N p q9 @ c64 * r s"),
                    {.isa = Isa::ref}, kernels);
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "Plan: nobody walks k");
  }
}

TEST(Plan, CountsFlattenedCallsInEveryRangeOfLinesAnew) {
  KernelCache kernels;
  const Problem problem = parse_problem("mb2ic32ih9oc48oh9kh1ph0");
  const Plan plan(problem, parse_schedule("K16 p5 n pq12 @ c16 * c"), {.isa = Isa::ref}, kernels);
  EXPECT_EQ(plan.calls(), 3 * 2 * (4 + 3));  // 45 and 36 pixels by 12
}

TEST(Plan, CountsBarriersByTheSteps) {
  const auto barriers = [](const char* problem, const char* schedule) {
    KernelCache kernels;
    return Plan(parse_problem(problem), parse_schedule(schedule),
                {.threads = 2, .isa = Isa::ref, .transposes_once = schedule[0] == 'o'}, kernels)
        .barriers();
  };
  constexpr const char* kData = "fc bwd_d f32 mb32ic64oc64";
  EXPECT_EQ(barriers("mb2ic64ih7oc64oh7kh3ph1", "N k64 p q7 @ c64 * c r s"), 1);
  EXPECT_EQ(barriers("bwd_w mb2ic64ih7oc64oh7kh3ph1", "N+ r s k64 c64 @ q7 * p"), 2);
  EXPECT_EQ(barriers(kData, "N16 c64 @ k64 * k"), 2);
  EXPECT_EQ(barriers(kData, "once: pack(w') ; N16 c64 @ k64 * k"), 1);
  EXPECT_EQ(barriers(kData, "C32 pack(w') n32 @ k64 * k"), 1);
  EXPECT_EQ(barriers("fc bwd_w f32 mb32ic64oc64+bias", "C32 k32 @ n32") -
                barriers("fc bwd_w f32 mb32ic64oc64", "C32 k32 @ n32"),
            1);
  EXPECT_EQ(barriers("fc bwd_w f32 mb32ic64oc64+bias+relu", "C32 k32 @ n32") -
                barriers("fc bwd_w f32 mb32ic64oc64", "C32 k32 @ n32"),
            2);
  EXPECT_EQ(barriers("lstm fwd f32 t5mb24sic64", "t { N24 K64 g @ c64 * c + h64 * h ; }"), 6);
  EXPECT_EQ(barriers("lstm fwd f32 t5mb24sic64",
                     "wx: T N24 K64 g @ c64 * c ; rh: t { N24 K64 g @ h64 * h ; }"),
            7);
  EXPECT_EQ(barriers("lstm bwd f32 t5mb24sic64",
                     "t { N24 K64 elt ; N24 H64 @ k64 * g k ; } ; T N24 C64 @ k64 * g k , "
                     "C64 K64 g @ n24 * n t , H64 K64 g @ n24 * n t"),
            11);
}

TEST(Plan, CountsCallsAndLeavesPaddingOutOfTheExecutedFlops) {
  KernelCache kernels;
  const Problem problem = parse_problem("mb1ic64ih7oc64oh7kh3ph1");
  const Plan plan(problem, parse_schedule("K32 P q7 @ c64 * r s"), {.isa = Isa::ref}, kernels);
  EXPECT_EQ(plan.calls(), 2 * 7);
  EXPECT_DOUBLE_EQ(plan.executed_flops(),
                   2.0 * 64 * 64 * 19 * 19);  // 7 + 6 + 6 rows of 7 filter rows lie on the image
  const Plan copied(problem, parse_schedule("K32 P pack(x) q7 @ c64 * r s rim=copy"),
                    {.isa = Isa::ref}, kernels);
  EXPECT_DOUBLE_EQ(copied.executed_flops(), flops(problem));
}

}  // namespace
}  // namespace loopbrick
