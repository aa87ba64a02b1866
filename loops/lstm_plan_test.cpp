// LSTMs: what the schedule text must say, and random problems under random schedules.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "loops/guarded_buffer.h"
#include "loops/plan.h"
#include "problems/operands.h"
#include "tests/guarded_floats.h"

namespace loopbrick {
namespace {

using Random = std::mt19937_64;

std::int64_t between(Random& random, std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>(least, most)(random);
}

template <typename Value>
Value one_of(Random& random, std::vector<Value> values) {
  return values[static_cast<std::size_t>(
      between(random, 0, static_cast<std::int64_t>(values.size()) - 1))];
}

/// Operands of a plan between unreadable pages: inputs read-only, outputs NaN; so is the workspace.
class Trial {
 public:
  Trial(const Problem& problem, const Schedule& schedule, const Conditions& conditions, Fill kind)
      : problem_(problem), kind_(kind), plan_(problem, schedule, conditions, kernels_) {
    for (const Operand& operand : operands(problem)) {
      for (auto* memory : {&want_memory_, &got_memory_})
        memory->emplace_back(static_cast<std::size_t>(elements(operand)));
    }
    want_ = Arrays(want_memory_.begin(), want_memory_.end());
    got_ = Arrays(got_memory_.begin(), got_memory_.end());
    fill(problem, kind, 7, want_);
    fill(problem, kind, 7, got_);
    reference(problem, want_, 1);
    workspace_ = GuardedBuffer(plan_.workspace_bytes(), Pages::small);
    std::ranges::fill(workspace_.floats(), std::numeric_limits<float>::quiet_NaN());
    lay_out();
    plan_.prepare(pointers_, workspace_.bytes());
  }

  /// "" if all outputs are right.
  std::string go() {
    plan_.run(pointers_, workspace_.bytes());
    const auto list = operands(problem_);
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].output) plan_.take_back(static_cast<int>(i), own_[i].values(), got_[i]);
    }
    const auto off = compare(problem_, kind_, got_, want_);
    return off.empty() ? "" : to_string(off[0], problem_);
  }

 private:
  void lay_out() {
    const auto list = operands(problem_);
    for (std::size_t i = 0; i < list.size(); ++i) {
      const auto bytes = static_cast<std::size_t>(plan_.laid_out_bytes(static_cast<int>(i)));
      // operands are aligned to 64 bytes: at the back only where that touches the page behind
      const bool fits = bytes % 64 == 0;
      own_.emplace_back(bytes / sizeof(float),
                        fits ? GuardedFloats::Flush::back : GuardedFloats::Flush::front);
      std::ranges::fill(own_[i].values(), std::numeric_limits<float>::quiet_NaN());
      pointers_.push_back(own_[i].data());
      if (list[i].output) continue;
      plan_.lay_out(static_cast<int>(i), got_[i], own_[i].values());
      own_[i].make_read_only();
    }
  }

  Problem problem_;
  Fill kind_;
  KernelCache kernels_;
  Plan plan_;
  std::vector<std::vector<float>> want_memory_, got_memory_;
  Arrays want_, got_;
  GuardedBuffer workspace_;
  std::vector<GuardedFloats> own_;
  std::vector<void*> pointers_;
};

std::string run(const std::string& problem, const std::string& schedule, int threads = 1,
                Fill kind = Fill::uniform) {
  const Conditions conditions{.threads = threads, .isa = best_isa()};
  const Problem parsed = parse_problem(problem);
  if (const auto no = why_not(parsed, parse_schedule(schedule), conditions)) return to_string(*no);
  return Trial(parsed, parse_schedule(schedule), conditions, kind).go();
}

constexpr const char* kFused = "t { N24 K64 g @ c64 * c + h64 * h ; }";
constexpr const char* kDiffused = "wx: T N24 K64 g @ c64 * c ; rh: t { N24 K64 g @ h64 * h ; }";
constexpr const char* kBackward =
    "t { N24 K64 elt ; N24 H64 @ k64 * g k ; } ; "
    "T N24 C64 @ k64 * g k , C64 K64 g @ n24 * n t , H64 K64 g @ n24 * n t";

constexpr const char* kBackwardInTime =
    "t { N24 K64 elt ; N24 H64 @ k64 * g k , N24 C64 @ k64 * g k , C64 K64 g @ n24 * n , "
    "H64 K64 g @ n24 * n ; }";

TEST(LstmPlan, GradientsOfEveryTimeStepAddUp) {
  for (const char* sizes : {"t4mb48sic128slc64", "t3mb5sic34slc17", "t1mb1sic1", "t7mb25sic128"}) {
    for (const int threads : {1, 2, 4}) {
      EXPECT_EQ(run(std::string("lstm bwd ") + sizes, kBackwardInTime, threads), "") << sizes;
    }
  }
}

TEST(LstmPlan, RunsTheSchedulesOfThePaper) {
  for (const char* sizes : {"t4mb48sic128slc64", "t3mb5sic34slc17", "t1mb1sic1", "t7mb25sic128"}) {
    for (const int threads : {1, 2, 4}) {
      for (const char* forward : {kFused, kDiffused}) {
        EXPECT_EQ(run(std::string("lstm fwd ") + sizes, forward, threads), "") << sizes;
        EXPECT_EQ(run(std::string("lstm train ") + sizes, forward, threads), "") << sizes;
      }
      if (std::string(sizes) == "t3mb5sic34slc17") continue;  // 64 of c would not divide 17
      EXPECT_EQ(run(std::string("lstm bwd ") + sizes, kBackward, threads), "") << sizes;
    }
  }
}

TEST(LstmPlan, RunsManyTimeSteps) {
  EXPECT_EQ(run("lstm t629mb2sic16slc5", "t { N2 K16 g @ c5 + h16 ; }", 2), "");
  EXPECT_EQ(run("lstm bwd t629mb2sic16slc5",
                "t { N2 K16 elt ; N2 H16 @ k16 * g ; } ; T N2 C5 @ k16 * g , "
                "C5 K16 g @ n2 * t , H16 K16 g @ n2 * t",
                2),
            "");
}

TEST(LstmPlan, FlushedOrNotDenormalsAreRight) {
  EXPECT_EQ(run("lstm t3mb5sic34slc17", kFused, 1, Fill::denormal), "");
  EXPECT_EQ(run("lstm bwd t3mb5sic48slc17",
                "t { N2 K16 elt ; N2 H16 @ k16 * g k ; } ; "
                "T N2 C5 @ k16 * g k , C5 K16 g @ n2 * n t , H16 K16 g @ n2 * n t",
                1, Fill::denormal),
            "");
}

/// The next run must not see what the last one left.
TEST(LstmPlan, RunsAgain) {
  for (const auto& [problem, schedule] : {std::pair{"lstm t3mb5sic34slc17", kFused},
                                          {"lstm train t3mb5sic34slc17", kDiffused},
                                          {"lstm bwd t3mb25sic64slc17", kBackward}}) {
    Trial twice(parse_problem(problem), parse_schedule(schedule), {.threads = 2, .isa = best_isa()},
                Fill::uniform);
    EXPECT_EQ(twice.go(), "");
    EXPECT_EQ(twice.go(), "");
  }
}

TEST(LstmPlan, SaysWhatIsWrongWithASchedule) {
  struct Case {
    const char* pass;
    const char* schedule;
    const char* reason;
  };
  const Case cases[] = {
      {"fwd", "N24 K64 g @ c64 * c",
       "time steps depend on each other: they stand in 't { ... ; }'"},
      {"fwd", "t { N24 K64 g @ c64 * c + h64 * h }",
       "';' is missing before '}': the next step of t needs all of h"},
      {"fwd", "t2 { N24 K64 g @ c64 * c + h64 * h ; }",
       "the braces of an lstm stand behind a plain 't', one time step a round"},
      {"fwd", "t { N24 K64 g @ h64 * h ; }", "the cell sums over c and h: '@ c64 * c + h64 * h'"},
      {"fwd", "t { N24 K64 c64 g @ c64 + h64 * h ; }", "a step with two sums has no loop over c"},
      {"fwd", "t { N24 K64 @ c64 * c + h64 * h ; }", "nobody walks g"},
      {"fwd", "t { N24 K64 G @ c64 * c + h64 * h ; }",
       "a cell needs its four gates: threads cannot share g"},
      {"fwd", "t { N24 K64 g @ c64 * c + h64 * h rotate=g ; }",
       "a cell ends with its last gate: g starts with the first"},
      {"bwd",
       "t { N24 K64 elt ; N24 H64 @ k64 * g k ; N24 C64 @ k64 * g k , C64 K64 g @ n24 * n , "
       "H64 K64 g @ n24 * n ; }",
       "dh, dx, dw and dr need no barrier between or behind them: ','"},
      {"fwd", "t { N24 g @ c64 * c + h64 * h ; }", "nobody walks k"},
      {"fwd", "t { N24 K128 g @ c64 * c + h64 * h ; }",
       "128 of k do not divide the channel block of 64"},
      {"fwd", "T N24 K64 g @ c64 * c , t { N24 K64 g @ h64 * h ; }",
       "';' is missing before 't { }'"},
      {"fwd", "T N24 K64 g @ c64 * c ; t { N24 K64 g @ c64 * c + h64 * h ; }",
       "the products with x are done: the cell sums over h only"},
      {"fwd", "N24 K64 g @ c64 * c ; t { N24 K64 g @ h64 * h ; }", "nobody walks t"},
      {"fwd", "t { N24 K64 g @ c64 * c + h64 * h ; } ; N24 K64 g @ c64 * c",
       "behind 't { }' this pass has nothing left to do"},
      {"fwd", "t { n24 k64 g @ c64 * c + h64 * h ; }",
       "no loop is parallel, but there are 2 threads"},
      {"fwd", "t { N24 K64 g pack(x) @ c64 * c + h64 * h ; }", "an lstm packs nothing"},
      {"fwd", "t { N24 K64 g @ c64 * c + h64 * h deal=dynamic ; }", "an lstm is dealt out evenly"},
      {"bwd", kFused, "inside 't { }' stand 2 steps in this pass, not 1"},
      {"bwd", "t { N24 K64 elt , N24 H64 @ k64 * g k ; } ; N24 C64 @ k64 * g k",
       "';' is missing behind elt: dh needs all of dz"},
      {"bwd", "t { N24 K64 elt ; N24 H64 @ k64 * g k ; } , T N24 C64 @ k64 * g k",
       "';' is missing behind 't { }'"},
      {"bwd", "t { N24 K64 elt ; N24 H64 @ k64 * g k ; } ; T N24 C64 @ k64 * g k",
       "nobody computes dw: 'C64 K64 g @ n24 * n t'"},
      {"bwd",
       "t { N24 K64 elt ; N24 H64 @ k64 * k ; } ; T N24 C64 @ k64 * g k , "
       "C64 K64 g @ n24 * n t , H64 K64 g @ n24 * n t",
       "nobody walks g"},
      {"bwd",
       "t { N24 elt ; N24 H64 @ k64 * g k ; } ; T N24 C64 @ k64 * g k , "
       "C64 K64 g @ n24 * n t , H64 K64 g @ n24 * n t",
       "nobody walks k"},
  };
  for (const Case& each : cases) {
    const Problem problem = parse_problem(std::string("lstm ") + each.pass + " t3mb48sic128slc192");
    const auto no =
        why_not(problem, parse_schedule(each.schedule), {.threads = 2, .isa = best_isa()});
    EXPECT_EQ(no ? to_string(*no) : "", each.reason) << each.schedule;
  }
}

Lstm random_lstm(Random& random) {
  const std::vector<std::int64_t> features{1, 5, 16, 17, 32, 34, 48, 64, 80, 96, 128};
  return {.t = between(random, 1, 4),
          .n = one_of<std::int64_t>(random, {1, 2, 5, 7, 24, 30}),
          .c = one_of(random, features),
          .k = one_of(random, features)};
}

std::int64_t random_step(Random& random, std::int64_t extent) {
  return one_of<std::int64_t>(
      random, {1, 2, 3, 5, 8, 16, 16, 32, 64, extent, std::max<std::int64_t>(1, extent / 2)});
}

/// Loops in any order, the shared ones first; `summed` are looped or in the batch.
std::string random_step_text(Random& random, const Lstm& lstm, const std::string& outputs,
                             const std::string& serial, char depth, const std::string& batch) {
  const auto extent = [&lstm](char axis) {
    const std::map<char, std::int64_t> extents{{'t', lstm.t}, {'n', lstm.n}, {'c', lstm.c},
                                               {'k', lstm.k}, {'h', lstm.k}, {'g', 4}};
    return extents.at(axis);
  };
  const auto loop = [&](char axis) {
    const bool is_one = axis == 'g' || (axis == 't' && batch.find('t') == std::string::npos);
    return std::string(1, axis) + (is_one ? "" : std::to_string(random_step(random, extent(axis))));
  };
  std::vector<std::string> shared, own;
  for (const char axis : outputs) (between(random, 0, 2) == 0 ? own : shared).push_back(loop(axis));
  for (const char axis : serial) own.push_back(loop(axis));
  if (shared.empty()) std::swap(shared, own);
  std::string walked;
  for (const char axis : batch) {
    if (between(random, 0, 2) == 0) {
      own.push_back(loop(axis));
    } else {
      walked += std::string(" ") + axis;
    }
  }
  std::shuffle(shared.begin(), shared.end(), random);
  std::shuffle(own.begin(), own.end(), random);
  std::string text;
  for (std::string& each : shared) {
    each[0] = static_cast<char>(each[0] - 'a' + 'A');
    text += each + " ";
  }
  for (const std::string& each : own) text += each + " ";
  text += "@ " + std::string(1, depth) + std::to_string(random_step(random, extent(depth)));
  if (!walked.empty()) text += " *" + walked;
  return text + one_of<std::string>(random, {"", "", "", " batch=address", " batch=stride",
                                             " ahead=1", " rotate=n", " next=n", " store=stream"});
}

std::string random_schedule(Random& random, const Lstm& lstm, Pass pass) {
  const auto step = [&](const std::string& outputs, const std::string& serial, char depth,
                        const std::string& batch) {
    return random_step_text(random, lstm, outputs, serial, depth, batch);
  };
  if (pass == Pass::bwd) {
    std::string elementwise = "N" + std::to_string(random_step(random, lstm.n)) + " K" +
                              std::to_string(random_step(random, lstm.k)) + " elt";
    return "t { " + elementwise + " ; " + step("nh", "", 'k', "kg") + " ; } ; " +
           step("tnc", "", 'k', "gk") + " , " + step("ckg", "", 'n', "nt") + " , " +
           step("hkg", "", 'n', "tn");
  }
  if (between(random, 0, 1) == 0) {
    return "wx: " + step("tnkg", "", 'c', "c") + " ; rh: t { " + step("nk", "g", 'h', "h") + " ; }";
  }
  const auto sum = [&random](const char* axis, std::int64_t extent) {
    return axis + std::to_string(random_step(random, extent)) + " * " + axis;
  };
  return "t { " + one_of<std::string>(random, {"N", "K16 n", "K5 n2 k"}) +
         std::to_string(random_step(random, lstm.n)) + " k" +
         std::to_string(random_step(random, lstm.k)) + " g @ " + sum("c", lstm.c) + " + " +
         sum("h", lstm.k) + " ; }";
}

TEST(LstmPlan, RandomSchedulesAgreeWithTheReferenceOrAreRefused) {
  Random random(19970815);
  std::map<Pass, int> ran;
  for (int i = 0;
       i < 60000 && (ran[Pass::fwd] < 100 || ran[Pass::train] < 100 || ran[Pass::bwd] < 100); ++i) {
    const Lstm lstm = random_lstm(random);
    const Problem problem{.shape = lstm,
                          .pass = one_of<Pass>(random, {Pass::fwd, Pass::train, Pass::bwd,
                                                        Pass::bwd, Pass::bwd, Pass::bwd})};
    const std::string text = random_schedule(random, lstm, problem.pass);
    const Isa isa = std::min(best_isa(), one_of<Isa>(random, {Isa::avx2, Isa::avx512}));
    const Conditions conditions{.threads = static_cast<int>(between(random, 1, 4)), .isa = isa};
    const Schedule schedule = parse_schedule(text);
    if (why_not(problem, schedule, conditions)) continue;
    ++ran[problem.pass];
    const Fill kind = one_of<Fill>(random, {Fill::integers, Fill::uniform, Fill::ones});
    ASSERT_EQ(Trial(problem, schedule, conditions, kind).go(), "")
        << to_string(problem) << " | " << text << " | " << to_string(conditions) << " | "
        << to_string(kind);
  }
  for (const auto& [pass, count] : ran) EXPECT_GE(count, 100) << to_string(pass);
}

}  // namespace
}  // namespace loopbrick
