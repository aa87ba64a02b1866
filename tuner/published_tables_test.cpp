// What strategies and the model are worth on the tables of results/published: numbers that depend
// on nothing but the code, since rehearsals are repeatable.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "problems/text_file.h"
#include "tuner/rehearsal.h"

namespace loopbrick {
namespace {

std::vector<TimingTable> published() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(PUBLISHED))
    if (entry.path().extension() == ".csv") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<TimingTable> tables;
  for (const auto& file : files)
    tables.push_back(parse_timing_table(file.stem().string(), read_text_file(file)));
  return tables;
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Median over tables of the median over seeds.
double regret(const std::vector<TimingTable>& tables, std::string_view strategy,
              const std::function<std::size_t(const TimingTable&)>& trials, std::uint64_t seeds) {
  std::vector<double> regrets;
  for (const TimingTable& table : tables) {
    std::vector<double> of_seeds;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed)
      of_seeds.push_back(
          rehearse(table, strategy_named(strategy), {.seed = seed, .trials = trials(table)})
              .back());
    regrets.push_back(median_of(of_seeds));
  }
  return median_of(regrets);
}

std::size_t two_per_cent(const TimingTable& table) { return table.rows.size() / 50; }

TEST(PublishedTables, AreWholeAndHaveBeenConfirmed) {
  for (const TimingTable& table : published()) {
    const auto confirmed = std::count_if(table.rows.begin(), table.rows.end(),
                                         [](const TimingRow& row) { return row.confirmed; });
    EXPECT_GE(confirmed, 50) << table.name;
    EXPECT_GE(table.rows.size(), 1000U) << table.name;
    for (const TimingRow& row : table.rows)
      EXPECT_TRUE(row.seconds == 0.0 || row.seconds >= best_seconds(table)) << row.schedule;
  }
}

TEST(PublishedTables, TheDefaultIsWithinOnePerCentAfterTwoPerCentOfATable) {
  const auto tables = published();
  ASSERT_FALSE(tables.empty());
  const std::string_view standard = strategies().front().name;
  EXPECT_LE(regret(tables, standard, two_per_cent, 5), 0.01);
  EXPECT_GT(regret(tables, "random", two_per_cent, 5), 0.03) << "too easy to tell strategies apart";
}

TEST(PublishedTables, TheModelsFirstChoiceAndItsFirstTenAreNear) {
  const auto tables = published();
  EXPECT_LE(regret(
                tables, "ranked", [](const auto&) { return 1U; }, 1),
            0.08);
  EXPECT_LE(regret(
                tables, "ranked", [](const auto&) { return 10U; }, 1),
            0.02);
}

}  // namespace
}  // namespace loopbrick
