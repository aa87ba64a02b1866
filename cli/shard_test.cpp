#include "cli/shard.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "kernels/text.h"
#include "problems/operands.h"

namespace loopbrick {
namespace {

Variable environment(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

std::string message_of(std::string_view text, std::map<std::string, std::string> variables = {}) {
  try {
    parse_shard(text, environment(std::move(variables)));
    return "no error";
  } catch (const ParseError& error) {
    return error.what();
  }
}

TEST(Shard, TextsCountFromOne) {
  EXPECT_EQ(parse_shard("1/1"), (Shard{1, 1}));
  EXPECT_EQ(parse_shard("4/4"), (Shard{4, 4}));
  for (const char* const text : {"0/4", "5/4", "1/0", "/4", "1/", "1", "", "a/b", "1/4x", "-1/4"}) {
    EXPECT_NE(message_of(text).find(std::string("'") + text + "'"), std::string::npos) << text;
  }
}

TEST(Shard, LaunchersCountFromZero) {
  using Variables = std::map<std::string, std::string>;
  const auto shard = [](Variables variables) {
    return parse_shard("auto", environment(variables));
  };
  EXPECT_EQ(shard({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}}), (Shard{2, 2}));
  EXPECT_EQ(shard({{"PMI_RANK", "0"}, {"PMI_SIZE", "3"}}), (Shard{1, 3}));
  const Variables srun{{"SLURM_PROCID", "2"}, {"SLURM_NTASKS", "4"}};
  EXPECT_EQ(shard(srun), (Shard{3, 4}));
  Variables mpirun_in_a_job{{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}};
  mpirun_in_a_job.insert({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}});
  EXPECT_EQ(shard(mpirun_in_a_job), (Shard{2, 2}));
  const Variables array{{"SLURM_ARRAY_TASK_ID", "14"},
                        {"SLURM_ARRAY_TASK_MIN", "10"},
                        {"SLURM_ARRAY_TASK_STEP", "2"},
                        {"SLURM_ARRAY_TASK_COUNT", "5"}};
  EXPECT_EQ(shard(array), (Shard{3, 5}));
  Variables both = array;
  both.insert(srun.begin(), srun.end());
  EXPECT_EQ(shard(both), (Shard{2 * 4 + 3, 20}));
}

TEST(Shard, AutoWithoutALauncherOrWithNonsenseIsNamed) {
  EXPECT_NE(message_of("auto").find("mpirun"), std::string::npos);
  EXPECT_NE(message_of("auto", {{"PMI_RANK", "x"}, {"PMI_SIZE", "3"}}).find("PMI_RANK='x'"),
            std::string::npos);
  EXPECT_NE(message_of("auto", {{"PMI_RANK", "3"}, {"PMI_SIZE", "3"}}).find("process 4 of 3"),
            std::string::npos);
}

What layers() {
  What what;
  for (const int size : {3, 14, 7, 28, 56, 14}) {
    const std::string text = "mb1ic16ih" + std::to_string(size) + "oc16kh1";
    what.problems.push_back({.label = text,
                             .suite = "",
                             .layer = "",
                             .multiplicity = size == 7 ? 9 : 1,
                             .problem = parse_problem(text)});
  }
  return what;
}

double work(const What& what) {
  double sum = 0.0;
  for (const NamedProblem& named : what.problems) {
    sum += flops(named.problem) * static_cast<double>(named.multiplicity);
  }
  return sum;
}

TEST(Shard, PartsAreWholeAndAboutEqual) {
  const What all = layers();
  for (const int parts : {1, 2, 3, 8}) {
    std::vector<std::string> labels;
    for (int number = 1; number <= parts; ++number) {
      const What part = part_of(all, {number, parts});
      for (const NamedProblem& named : part.problems) labels.push_back(named.label);
      // never more than an equal share and the largest layer
      EXPECT_LE(work(part), work(all) / parts + work(part_of(all, {1, 8})));
    }
    EXPECT_EQ(labels.size(), all.problems.size());
  }
  // 3136 pixels alone; 784 + 441 + 196 + 196 + 9
  const What first = part_of(all, {1, 2});
  ASSERT_EQ(first.problems.size(), 1U);
  EXPECT_EQ(first.problems[0].label, all.problems[4].label);
  EXPECT_EQ(part_of(all, {2, 2}).problems[0].label, all.problems[0].label);  // in their order
  EXPECT_TRUE(part_of(all, {8, 8}).problems.empty());
}

TEST(Shard, HasADatabaseOfItsOwn) {
  EXPECT_EQ(part_name("loopbrick.db", {2, 4}), "loopbrick-2of4.db");
  EXPECT_EQ(part_name("/data/a.b/x", {1, 10}), "/data/a.b/x-1of10");
}

}  // namespace
}  // namespace loopbrick
