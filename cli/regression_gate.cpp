#include "cli/regression_gate.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <iostream>

#include "cli/interrupt.h"
#include "cli/junit.h"
#include "cli/output_file.h"

namespace loopbrick {
namespace {

using Finding = RegressionRow::Finding;

bool is_bad(Finding finding) { return finding == Finding::slower || finding == Finding::failed; }

std::optional<std::string> cell(double value) {
  return value > 0.0 ? std::optional(number(value, 5)) : std::nullopt;
}

JunitCase::Outcome outcome_of(Finding finding) {
  switch (finding) {
    case Finding::fine:
      return JunitCase::Outcome::passed;
    case Finding::slower:
      return JunitCase::Outcome::failed;
    case Finding::failed:
      return JunitCase::Outcome::error;
    case Finding::not_stored:
      break;
  }
  return JunitCase::Outcome::skipped;
}

/// What somebody needs who reads nothing but the build server's page.
std::string details_of(const RegressionRow& row) {
  if (row.finding == Finding::not_stored) return "";
  std::string text = fmt::format(
      "stored: {:.6g} s, trial {}, build {}, schedule {}\ntoday: {:.6g} s, trial {}, schedule {}\n"
      "ratio: {:.4f} ({:.4f} to {:.4f}){}\n",
      row.stored_seconds, row.stored_trial, row.stored_build, row.stored_schedule, row.seconds,
      row.trial, row.schedule, row.ratio, row.lo, row.hi,
      row.is_again ? ", measured twice, these are the later values" : "");
  if (row.of_stored_schedule > 0.0) {
    text += fmt::format("the stored schedule today: {:.4f}\n", row.of_stored_schedule);
  }
  return text;
}

}  // namespace

Against parse_against(const std::string& text) {
  const std::size_t at = text.rfind('@');
  std::error_code ignored;
  if (at == std::string::npos || std::filesystem::exists(text, ignored)) return {text, ""};
  return {text.substr(0, at), text.substr(at + 1)};
}

RegressionGate::RegressionGate(const std::string& against, double bar,
                               const std::optional<std::string>& junit)
    : against_(parse_against(against)),
      yardstick_(against_.file, Access::read),
      bar_(bar),
      junit_name_(junit.value_or("")) {
  if (!junit) return;
  check_output_file("--junit", *junit);
}

bool RegressionGate::measure(const CompareRequest& request, Store& store,
                             const CompareWatcher& watcher) {
  const double noise = request.station.limits.noise_floor;
  if (bar_ > 0.0 && bar_ < 1.0 && noise > 1.0 - bar_) {
    std::cerr << fmt::format(
        "warning: the noise floor here, {:.1f} %, is wider than the {:.1f} % that --fail-below "
        "leaves\n",
        100.0 * noise, 100.0 * (1.0 - bar_));
  }
  machine_ = request.station.machine.id;
  build_ = request.station.build;
  const RegressionReport report = regressions(
      {.today = request, .revision = against_.revision, .bar = bar_}, yardstick_, store,
      [&store](const CompareRequest& asked) { return compare(asked, store, {}, &interrupted()); },
      watcher, &interrupted());
  for (const RegressionRow& row : report.rows)
    rows_.push_back({to_string(request.conditions), row});
  return !report.interrupted;
}

ExitCode RegressionGate::report(const OutputOptions& output) {
  Table table{.columns = {"layer", "verdict", "ratio", "lo", "hi", "of_stored_schedule", "again",
                          "median_s", "stored_s", "schedule", "stored_schedule", "stored_build",
                          "trial", "stored_trial", "conditions", "problem", "reason"},
              .rows = {}};
  for (const auto& [conditions, row] : rows_) {
    const auto id = [](std::int64_t trial) {
      return trial > 0 ? std::optional(std::to_string(trial)) : std::nullopt;
    };
    table.rows.push_back({row.layer, to_string(row.finding), cell(row.ratio), cell(row.lo),
                          cell(row.hi), cell(row.of_stored_schedule), row.is_again ? "yes" : "no",
                          cell(row.seconds), cell(row.stored_seconds), row.schedule,
                          row.stored_schedule, row.stored_build, id(row.trial),
                          id(row.stored_trial), conditions, row.problem, row.reason});
  }
  print(table, output);
  if (!junit_name_.empty()) write_junit();
  const auto count = [this](auto has) {
    return std::count_if(rows_.begin(), rows_.end(),
                         [has](const Row& row) { return has(row.found.finding); });
  };
  const auto bad = count(is_bad);
  const auto missing = count([](Finding finding) { return finding == Finding::not_stored; });
  const auto all = static_cast<std::ptrdiff_t>(rows_.size());
  std::cerr << fmt::format(
      "against {}{}{}: {} of {} layers slower than {} or failed, {} not stored\n", against_.file,
      against_.revision.empty() ? "" : "@", against_.revision, bad, all, bar_, missing);
  return bad > 0 || missing == all ? ExitCode::bad_result : ExitCode::fine;
}

void RegressionGate::write_junit() {
  std::vector<JunitCase> cases;
  for (const auto& [conditions, row] : rows_) {
    cases.push_back({.group = conditions,
                     .name = row.layer + ": " + row.problem,
                     .seconds = row.took,
                     .outcome = outcome_of(row.finding),
                     .message = row.reason,
                     .details = details_of(row)});
  }
  const std::string text = junit_text("loopbrick compare",
                                      {{"machine", machine_},
                                       {"build", build_},
                                       {"against", against_.file},
                                       {"commit", against_.revision},
                                       {"fail-below", fmt::format("{}", bar_)}},
                                      cases);
  write_whole(junit_name_, text);
}

}  // namespace loopbrick
