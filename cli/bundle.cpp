#include "cli/bundle.h"

#include <fmt/format.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "cli/build_facts.h"
#include "kernels/text.h"
#include "results/copy.h"
#include "results/store.h"
#include "results/table_format.h"

namespace loopbrick {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCopy = "trials.db";

constexpr const char* kClaims =
    "SELECT suite, layer, problem, conditions, machine, choice, median_s, lo_s, hi_s, gflops,"
    " pct_of_peak, build, trial FROM best LEFT JOIN layer USING (problem)"
    " WHERE implementation = 'loopbrick' ORDER BY suite, CAST(layer AS INTEGER), problem,"
    " conditions, machine";

constexpr const char* kClaimed =
    "SELECT trial FROM best WHERE implementation = 'loopbrick' ORDER BY trial";

constexpr const char* kRatios =
    "SELECT problem, conditions, machine, choice, other, other_choice, other_ran, speedup, lo, hi,"
    " rounds, verdict, trial, other_trial FROM speedup ORDER BY problem, conditions, other,"
    " campaign";

constexpr const char* kMachines =
    "SELECT machine.id, cpu, machine.isa, cores, threads, sockets, l1d_bytes, l2_bytes, l3_bytes,"
    " memory_bytes FROM machine ORDER BY id";

constexpr const char* kProbes =
    "SELECT id AS campaign, machine, trust, warnings, round(peak_flops / 1e9, 1) AS peak_gflops,"
    " round(clock_hz / 1e9, 3) AS clock_ghz, round(l1_bandwidth / 1e9, 1) AS l1_gb_s,"
    " round(l2_bandwidth / 1e9, 1) AS l2_gb_s, round(l3_bandwidth / 1e9, 1) AS l3_gb_s,"
    " round(dram_bandwidth / 1e9, 1) AS dram_gb_s, round(noise_floor, 4) AS noise_floor,"
    " command FROM campaign ORDER BY id";

/// Which sources and compiler made the numbers.
constexpr const char* kBuilds =
    "SELECT id AS build, revision, compiler, build_type, (SELECT count(*) FROM trial WHERE"
    " trial.build = build.id) AS trials FROM build ORDER BY id";

constexpr std::string_view kReadMe = R"text(# What was measured, and how to check it

Written by {version}.

| file | holds |
|---|---|
| `trials.db` | every trial with its samples: an SQLite file for `loopbrick query --db trials.db` and anything else that reads SQLite |
| `csv/` | its tables, for those who don't |
| `claims.csv` | our best confirmed schedule of every problem: time with its 99 % interval, and the trial that it was |
| `ratios.csv` | against whom it was compared in the same rounds: ratio with its interval and verdict, and both trials |
| `machines.md` | the machines, and what each campaign's probes found there |
| `check.sh` | measures every claim again |

With `loopbrick` of the build below in the PATH:

    loopbrick db check trials.db                  # is the file whole?
    loopbrick query speedup --machine all --db trials.db
    loopbrick replay TRIAL --db trials.db         # any trial again, ours or another's, with the ratio to the stored time
    ./check.sh                                    # all {claims} claims; options go to replay, like --strict
                                                  # (exit code 3: not confirmed, or the machine can't be trusted)

A ratio to a stored time tells nothing on another machine; there, `loopbrick compare` measures both sides anew.

## Builds

{builds})text";

/// {trials} has a blank before each trial.
constexpr std::string_view kCheck = R"text(#!/bin/sh
# Measures every claim again, on a copy of the database. Options are those of loopbrick replay.
cd "$(dirname "$0")" || exit 5
cp trials.db replayed.db || exit 5
status=0
for trial in{trials}; do
  loopbrick replay "$trial" --db replayed.db "$@" || status=$?
done
exit $status
)text";

void write(const fs::path& file, const std::string& text) {
  std::ofstream out(file);
  out << text << std::flush;
  if (!out) throw std::runtime_error(fmt::format("cannot write '{}'", file.string()));
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder / "csv", error);
  if (error)
    throw std::runtime_error(
        fmt::format("cannot make the folder '{}': {}", folder.string(), error.message()));
}

std::string csv(const Store& store, const std::string& sql) {
  return format_table(store.query(sql), TableFormat::csv);
}

std::string markdown(const Store& store, const char* sql) {
  return format_table(store.query(sql), TableFormat::md);
}

void write_tables(const Store& store, const fs::path& folder) {
  const Table names =
      store.query("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql IS NOT NULL");
  for (const auto& row : names.rows)
    write(folder / (*row[0] + ".csv"), csv(store, "SELECT * FROM " + *row[0]));
}

/// The trials behind the claims, a blank before each.
std::string claimed_trials(const Store& store) {
  std::string list;
  for (const auto& row : store.query(kClaimed).rows) list += " " + *row[0];
  return list;
}

void fill(const fs::path& database, const fs::path& folder) {
  copy_database(database, folder / kCopy);
  const Store store(folder / kCopy, Access::read);
  write_tables(store, folder / "csv");
  write(folder / "claims.csv", csv(store, kClaims));
  write(folder / "ratios.csv", csv(store, kRatios));
  write(folder / "machines.md", "# Machines\n\n" + markdown(store, kMachines) +
                                    "\n# Campaigns and their probes\n\n" +
                                    markdown(store, kProbes));
  write(folder / "README.md", fmt::format(kReadMe, fmt::arg("version", version_line()),
                                          fmt::arg("claims", store.query(kClaimed).rows.size()),
                                          fmt::arg("builds", markdown(store, kBuilds))));
  write(folder / "check.sh", fmt::format(kCheck, fmt::arg("trials", claimed_trials(store))));
  fs::permissions(folder / "check.sh",
                  fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                  fs::perm_options::add);
}

}  // namespace

void write_bundle(const fs::path& database, const fs::path& folder) {
  if (fs::exists(folder) && !(fs::is_directory(folder) && fs::is_empty(folder)))
    throw ParseError(fmt::format("'{}' is there already and not an empty folder", folder.string()));
  Store(database, Access::read);  // else refused before anything is made
  try {
    make_folder(folder);
    fill(database, folder);
  } catch (...) {
    // Half a bundle would look like a whole one, and stand in the way of the next.
    std::error_code ignored;
    if (fs::is_directory(folder, ignored)) {
      for (const auto& entry : fs::directory_iterator(folder))
        fs::remove_all(entry.path(), ignored);
    }
    throw;
  }
}

}  // namespace loopbrick
