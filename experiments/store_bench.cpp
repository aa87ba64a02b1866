// The store: how many trials a second, each a transaction of its own, and how long the saved
// queries take in a large database.
//
//   store_bench [--trials N] [Google Benchmark's flags]
//
// N trials of 100 problems (100000 unless given) in a scratch file that is gone afterwards: 1 in 20
// failed, 1 in 100 confirmed, 2000 a campaign.

#include <benchmark/benchmark.h>

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <unistd.h>

#include "results/fixture.h"
#include "results/store.h"

namespace loopbrick {
namespace {

namespace fs = std::filesystem;

/// A folder of our own, gone with the object.
class Scratch {
 public:
  Scratch()
      : folder_(fs::temp_directory_path() / ("loopbrick_store_bench_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  fs::path file(const std::string& name) const { return folder_ / name; }

 private:
  fs::path folder_;
};

constexpr auto kAddCampaigns = R"sql(
INSERT INTO campaign(command, machine, build, strategy, budget, seed, trust, warnings, key, ended, how)
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :count)
SELECT 'loopbrick tune', machine.id, build.id, 'model', '60s', '1', 'A', '', 'bench ' || i,
       strftime('%Y-%m-%dT%H:%M:%fZ'), 'done'
FROM n, machine, (SELECT min(id) AS id FROM build) AS build)sql";

/// Times spread evenly over a factor of two, predictions within a fifth of them.
constexpr auto kAddTrials = R"sql(
INSERT INTO trial(campaign, number, problem, implementation, choice, machine, conditions, build,
  outcome, reason, search_n, search_median, search_lo, search_hi, search_min, search_processes,
  confirmed_n, confirmed_median, confirmed_lo, confirmed_hi, confirmed_min, confirmed_processes,
  flops, executed_flops, peak_flops, predicted, prepare_seconds, workspace_bytes, ran, included,
  flag, version, volatile_facts)
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :count),
seen AS MATERIALIZED (
  SELECT i, CASE WHEN i % 20 <> 0 THEN 1e-3 * (1 + abs(random() % 100000) / 1e5) END AS s,
         CASE WHEN i % 100 = 1 THEN 1 END AS confirmed
  FROM n)
SELECT (SELECT id FROM campaign WHERE key = 'bench ' || (1 + i / 2000)), 1 + i % 2000,
       'conv fwd f32 mb2ic64ih' || (i * 100 / :count) || 'oc64oh56kh3ph1', 'loopbrick',
       'N k64 p' || (i % 97) || ' q' || (i / 97 % 89) || ' @ c64 * c r s', :machine,
       't2 avx512 warm', (SELECT min(id) FROM build),
       CASE WHEN s IS NULL THEN 'crashed' ELSE 'ok' END,
       CASE WHEN s IS NULL THEN 'SIGSEGV (Segmentation fault) in ''run''' ELSE '' END,
       iif(s IS NULL, 0, 3), s, 0.99 * s, 1.02 * s, 0.98 * s, 1, iif(s * confirmed IS NULL, 0, 9),
       s * confirmed, 0.99 * s * confirmed, 1.02 * s * confirmed, 0.98 * s * confirmed, 3, 4e8, 4e8,
       4e11, s * (0.8 + 0.4 * abs(random() % 1000) / 1e3), 0.01, 0, 'avx512 6x64', '', '', '',
       'load=0.10 pinned=0,1'
FROM seen)sql";

/// The file, once it has that many trials.
const fs::path& large_database(const Scratch& scratch, std::int64_t trials) {
  static const fs::path file = [&] {
    const fs::path made = scratch.file("large.db");
    {
      Store store(made, Access::write);
      write_fixture(store, {"fwd"}, {"onednn", "eigen"});
    }
    SQLite::Database database(made.string(), SQLite::OPEN_READWRITE);
    SQLite::Transaction transaction(database);
    SQLite::Statement campaigns(database, kAddCampaigns);
    campaigns.bind(":count", 1 + trials / 2000);
    campaigns.exec();
    SQLite::Statement insert(database, kAddTrials);
    insert.bind(":count", trials);
    insert.bind(":machine", kFixtureMachine);
    insert.exec();
    transaction.commit();
    return made;
  }();
  return file;
}

void add_trials(benchmark::State& state, const Scratch& scratch, bool durable) {
  Store store(scratch.file(durable ? "durable.db" : "normal.db"), Access::write);
  if (durable) store.survive_power_loss();
  store.add_machine(fixture_machine());
  store.add_build(fixture_build());
  const auto campaign = store.add_campaign(fixture_campaign("bench"));
  std::int64_t made = 0;
  for (auto _ : state) {
    store.add_trial(fixture_trial(campaign, "choice " + std::to_string(made++), 1e-3));
  }
  state.SetItemsProcessed(state.iterations());
}

void ask(benchmark::State& state, const Scratch& scratch, std::int64_t trials,
         const std::string& sql) {
  const Store store(large_database(scratch, trials), Access::read);
  std::size_t rows = 0;
  for (auto _ : state) rows = store.query(sql).rows.size();
  state.counters["rows"] = static_cast<double>(rows);
}

void register_all(const Scratch& scratch, std::int64_t trials) {
  for (const bool durable : {false, true}) {
    benchmark::RegisterBenchmark(
        durable ? "add_trial/durable" : "add_trial/normal",
        [&scratch, durable](benchmark::State& state) { add_trials(state, scratch, durable); })
        ->UseRealTime();
  }
  for (const SavedQuery& query : saved_queries()) {
    benchmark::RegisterBenchmark(("query/" + std::string(query.name)).c_str(),
                                 [&scratch, trials, query](benchmark::State& state) {
                                   ask(state, scratch, trials, std::string(query.sql));
                                 })
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
}

/// Takes --trials N out of the arguments.
std::int64_t trials_of(int& argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::string(argv[i]) != "--trials") continue;
    const std::int64_t trials = std::atoll(argv[i + 1]);
    for (int j = i; j + 2 <= argc; ++j) argv[j] = argv[j + 2];
    argc -= 2;
    return trials;
  }
  return 100000;
}

}  // namespace
}  // namespace loopbrick

int main(int argc, char** argv) {
  const std::int64_t trials = loopbrick::trials_of(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (trials < 100 || benchmark::ReportUnrecognizedArguments(argc, argv)) {
    std::fprintf(stderr, "store_bench: expected --trials N of at least 100\n");
    return 2;
  }
  try {
    const loopbrick::Scratch scratch;
    loopbrick::register_all(scratch, trials);
    benchmark::RunSpecifiedBenchmarks();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "store_bench: %s\n", error.what());
    return 5;
  }
  return 0;
}
