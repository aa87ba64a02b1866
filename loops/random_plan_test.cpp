// Random problems under random schedules: whatever why_not lets through must agree with the
// reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "loops/plan.h"
#include "problems/operands.h"

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

Problem random_conv(Random& random) {
  Conv conv;
  conv.n = between(random, 1, 3);
  conv.c = one_of<std::int64_t>(random, {1, 2, 3, 5, 16, 17, 32, 48, 64, 128});
  conv.k = one_of<std::int64_t>(random, {1, 2, 7, 16, 20, 32, 33, 64, 96});
  conv.r = between(random, 1, 4);
  conv.s = between(random, 1, 4);
  conv.stride_h = between(random, 1, 3);
  conv.stride_w = between(random, 1, 3);
  conv.dilation_h = between(random, 1, 2);
  conv.dilation_w = between(random, 1, 2);
  conv.pad_h = between(random, 0, 3);
  conv.pad_w = between(random, 0, 3);
  conv.p = between(random, 1, 8);
  conv.q = between(random, 1, 8);
  conv.h = std::max<std::int64_t>(1, (conv.p - 1) * conv.stride_h + (conv.r - 1) * conv.dilation_h +
                                         1 - conv.pad_h - between(random, 0, 2));
  conv.w = std::max<std::int64_t>(1, (conv.q - 1) * conv.stride_w + (conv.s - 1) * conv.dilation_w +
                                         1 - conv.pad_w - between(random, 0, 2));
  Problem problem{.shape = conv};
  problem.layout = one_of<Layout>(random, {Layout::blocked, Layout::nhwc});
  problem.bias = between(random, 0, 1) == 1;
  problem.activation =
      one_of<Activation>(random, {Activation::none, Activation::relu, Activation::sigmoid,
                                  Activation::tanh, Activation::gelu_erf, Activation::gelu_tanh});
  return problem;
}

/// A step of the axis with this extent: often one that divides, sometimes not, sometimes beyond.
std::int64_t random_step(Random& random, std::int64_t extent) {
  return one_of<std::int64_t>(
      random, {1, 2, 3, 4, 5, 8, 16, 32, 64, extent, std::max<std::int64_t>(1, extent / 2)});
}

std::string random_schedule(Random& random, const Conv& conv) {
  std::vector<std::string> loops{"n", "k" + std::to_string(random_step(random, conv.k))};
  if (between(random, 0, 2) == 0) {
    loops.push_back("pq" + std::to_string(random_step(random, conv.p * conv.q)));
  } else {
    loops.push_back("p" + std::to_string(one_of<std::int64_t>(random, {1, 1, 1, 2, 3})));
    loops.push_back("q" + std::to_string(random_step(random, conv.q)));
  }
  std::string batch;
  for (const char* axis : {"c", "r", "s"}) {
    if (between(random, 0, 3) == 0) {
      loops.push_back(std::string(axis) +
                      (*axis == 'c' ? std::to_string(random_step(random, conv.c)) : ""));
    } else {
      batch += std::string(" ") + axis;
    }
  }
  if (between(random, 0, 2) == 0) loops.push_back("q" + std::to_string(between(random, 1, 4)));
  std::shuffle(loops.begin(), loops.end(), random);
  if (between(random, 0, 2) == 0)
    loops.insert(loops.begin() + between(random, 1, static_cast<std::int64_t>(loops.size())),
                 "pack(x)");
  if (loops[0][0] != 'c' && loops[0][0] != 'r' && loops[0][0] != 's') {
    loops[0][0] = static_cast<char>(loops[0][0] - 'a' + 'A');
    if (loops[0][1] == 'q') loops[0][1] = 'Q';
  }
  std::string text;
  for (const std::string& loop : loops) text += loop + " ";
  text += "@ c" + std::to_string(random_step(random, conv.c)) + (batch.empty() ? "" : " *" + batch);
  text += one_of<std::string>(random, {"", "", " batch=address", " batch=stride"});
  text += one_of<std::string>(random, {"", "", "", " rim=copy"});
  return text + one_of<std::string>(random, {"", "", " ahead=2", " store=stream", " rotate=k",
                                             " next=p", " next=q", " deal=dynamic"});
}

Problem random_fc(Random& random) {
  Problem problem;
  problem.shape = Fc{.n = one_of<std::int64_t>(random, {1, 2, 7, 24, 33, 168}),
                     .c = one_of<std::int64_t>(random, {1, 3, 16, 17, 48, 64, 80, 100, 128, 256}),
                     .k = one_of<std::int64_t>(random, {1, 5, 16, 20, 33, 64, 96, 128, 192})};
  problem.pass = one_of<Pass>(random, {Pass::fwd, Pass::bwd_d, Pass::bwd_w});
  problem.layout = one_of<Layout>(random, {Layout::blocked, Layout::nhwc});
  problem.bias = problem.pass != Pass::bwd_d && between(random, 0, 1) == 1;
  problem.activation =
      one_of<Activation>(random, {Activation::none, Activation::relu, Activation::sigmoid,
                                  Activation::tanh, Activation::gelu_erf, Activation::gelu_tanh});
  return problem;
}

std::string random_fc_schedule(Random& random, const Problem& problem) {
  const Fc& fc = std::get<Fc>(problem.shape);
  const std::string sums = problem.pass == Pass::fwd     ? "c"
                           : problem.pass == Pass::bwd_d ? "k"
                                                         : "n";
  std::vector<std::string> loops;
  std::string batch;
  for (const auto& [axis, extent] : {std::pair{"n", fc.n}, {"c", fc.c}, {"k", fc.k}}) {
    const std::string loop = axis + std::to_string(random_step(random, extent));
    if (axis != sums) {
      loops.push_back(loop);
    } else if (between(random, 0, 2) == 0) {
      loops.push_back(loop);
    } else {
      batch = std::string(" * ") + axis;
    }
  }
  std::shuffle(loops.begin(), loops.end(), random);
  for (std::string& loop : loops) {
    if (loop[0] == sums[0]) continue;
    loop[0] = static_cast<char>(loop[0] - 'a' + 'A');
    if (between(random, 0, 1) == 0) break;  // else the next one is shared too
  }
  if (problem.pass == Pass::bwd_d && between(random, 0, 1) == 0) {
    loops.insert(loops.begin() + between(random, 0, static_cast<std::int64_t>(loops.size())),
                 "pack(w')");
  }
  std::string text;
  for (const std::string& loop : loops) text += loop + " ";
  const std::int64_t depth = sums == "n" ? fc.n : sums == "c" ? fc.c : fc.k;
  text += "@ " + sums + std::to_string(random_step(random, depth)) + batch;
  return text + one_of<std::string>(random, {"", "", " batch=address", " batch=stride", " ahead=1",
                                             " store=stream", " next=n"});
}

void share(std::string& loop) {
  loop[0] = static_cast<char>(loop[0] - 'a' + 'A');
  if (loop[0] == 'H' && loop[1] == 'w') loop[1] = 'W';
}

std::string joined(const std::vector<std::string>& loops) {
  std::string text;
  for (const std::string& loop : loops) text += loop + " ";
  return text;
}

std::string random_by_data_schedule(Random& random, const Conv& conv) {
  std::vector<std::string> loops{"n", "c" + std::to_string(random_step(random, conv.c))};
  if (between(random, 0, 3) == 0) {
    loops.push_back("hw" + std::to_string(random_step(random, conv.h * conv.w)));
  } else {
    loops.push_back("h" + std::to_string(one_of<std::int64_t>(random, {1, 1, 1, 2, 3})));
    loops.push_back("w" + std::to_string(random_step(random, conv.w)));
  }
  std::string batch;
  for (const char* axis : {"k", "r", "s"}) {
    if (between(random, 0, 3) == 0) {
      loops.push_back(std::string(axis) +
                      (*axis == 'k' ? std::to_string(random_step(random, conv.k)) : ""));
    } else {
      batch += std::string(" ") + axis;
    }
  }
  std::shuffle(loops.begin(), loops.end(), random);
  const auto somewhere = [&] {
    return loops.begin() + between(random, 0, static_cast<std::int64_t>(loops.size()));
  };
  if (between(random, 0, 3) == 0) loops.insert(somewhere(), "pack(w')");
  if (between(random, 0, 3) == 0) loops.insert(somewhere(), "pack(dy)");
  if (loops[0][0] == 'n' || loops[0][0] == 'c' || loops[0][0] == 'h') share(loops[0]);
  if (conv.stride_h * conv.stride_w > 1) loops.insert(loops.begin() + between(random, 0, 2), "f");
  std::string text = joined(loops) + "@ k" + std::to_string(random_step(random, conv.k));
  text += (batch.empty() ? "" : " *" + batch);
  text += one_of<std::string>(random, {"", "", " batch=address", " batch=stride"});
  return text + one_of<std::string>(
                    random, {"", "", "", " rim=copy", " ahead=2", " store=stream", " next=h"});
}

std::string random_by_weights_schedule(Random& random, const Conv& conv) {
  std::vector<std::string> loops{"k" + std::to_string(random_step(random, conv.k)),
                                 "c" + std::to_string(random_step(random, conv.c)), "r", "s"};
  std::string batch;
  for (const auto& [axis, extent] : {std::pair{"n", conv.n}, {"p", conv.p}, {"q", conv.q}}) {
    if (between(random, 0, 1) == 0)
      loops.push_back(axis + std::to_string(random_step(random, extent)));
    if (between(random, 0, 1) == 0) batch += std::string(" ") + axis;
  }
  std::shuffle(loops.begin(), loops.end(), random);
  share(loops[0]);
  if (loops[0][0] == 'N' || loops[0][0] == 'P' || loops[0][0] == 'Q') {
    if (between(random, 0, 2) == 0) {
      loops[0] += "/2";
      share(loops[1]);
      loops[1] += "/1";
    }
    loops[0] += "+";
  }
  std::string text = joined(loops) + "@ q" + std::to_string(random_step(random, conv.q));
  text += (batch.empty() ? "" : " *" + batch);
  return text + one_of<std::string>(
                    random, {"", "", " batch=address", " batch=stride", " ahead=1", " rotate=k"});
}

/// "" if the schedule is refused or right; `ran` counts those that were not refused.
std::string run(const Problem& problem, const std::string& text, const Conditions& conditions,
                int& ran) {
  const auto prepared = kLoopbrick.prepare(problem, text, conditions);
  if (!std::holds_alternative<Runnable>(prepared)) return "";
  ++ran;
  std::vector<std::vector<float>> memory;
  Arrays want;
  Arrays got;
  for (Arrays* arrays : {&want, &got}) {
    for (const Operand& operand : operands(problem)) {
      memory.emplace_back(static_cast<std::size_t>(elements(operand)));
      arrays->emplace_back(memory.back());
    }
    fill(problem, Fill::integers, 3, *arrays);
  }
  reference(problem, want, 1);
  const Runnable& runnable = std::get<Runnable>(prepared);
  runnable.load(got);
  runnable.run();
  runnable.unload(got);
  const auto off = compare(problem, Fill::integers, got, want);
  return off.empty() ? "" : to_string(off[0], problem);
}

TEST(RandomPlans, AgreeWithTheReferenceOrAreRefused) {
  Random random(20190617);
  int ran = 0;
  for (int i = 0; i < 30000 && ran < 300; ++i) {
    const Problem problem = random_conv(random);
    const std::string text = random_schedule(random, std::get<Conv>(problem.shape));
    const Isa isa = std::min(best_isa(), one_of<Isa>(random, {Isa::avx2, Isa::avx512}));
    const Conditions conditions{.threads = static_cast<int>(between(random, 1, 2)), .isa = isa};
    ASSERT_EQ(run(problem, text, conditions, ran), "")
        << to_string(problem) << " | " << text << " | " << to_string(conditions);
  }
  EXPECT_GE(ran, 300) << "too few random schedules are possible for the test to say anything";
}

TEST(RandomPlans, OfConvolutionsBackwardAgreeWithTheReference) {
  Random random(20190619);
  std::map<Pass, int> ran;
  for (int i = 0; i < 60000 && (ran.size() < 2 || ran[Pass::bwd_d] < 300 || ran[Pass::bwd_w] < 300);
       ++i) {
    Problem problem = random_conv(random);
    problem.bias = false;
    problem.activation = Activation::none;
    problem.pass = one_of<Pass>(random, {Pass::bwd_d, Pass::bwd_w});
    const Conv& conv = std::get<Conv>(problem.shape);
    const std::string text = problem.pass == Pass::bwd_d ? random_by_data_schedule(random, conv)
                                                         : random_by_weights_schedule(random, conv);
    const Isa isa = std::min(best_isa(), one_of<Isa>(random, {Isa::avx2, Isa::avx512}));
    const Conditions conditions{.threads = static_cast<int>(between(random, 1, 3)), .isa = isa};
    ASSERT_EQ(run(problem, text, conditions, ran[problem.pass]), "")
        << to_string(problem) << " | " << text << " | " << to_string(conditions);
  }
  for (const auto& [pass, count] : ran) EXPECT_GE(count, 300) << to_string(pass);
}

TEST(RandomPlans, OfFullyConnectedLayersAgreeWithTheReferenceInEveryPass) {
  Random random(20190618);
  std::map<Pass, int> ran;
  for (int i = 0; i < 30000 && (i < 2000 || ran.size() < 3); ++i) {
    const Problem problem = random_fc(random);
    const std::string text = random_fc_schedule(random, problem);
    const Isa isa = std::min(best_isa(), one_of<Isa>(random, {Isa::avx2, Isa::avx512}));
    const Conditions conditions{.threads = static_cast<int>(between(random, 1, 3)), .isa = isa};
    ASSERT_EQ(run(problem, text, conditions, ran[problem.pass]), "")
        << to_string(problem) << " | " << text << " | " << to_string(conditions);
  }
  for (const auto& [pass, count] : ran) EXPECT_GE(count, 100) << to_string(pass);
}

}  // namespace
}  // namespace loopbrick
