#include "cli/side_by_side.h"

#include <functional>
#include <string>
#include <utility>

#include "cli/output_options.h"

namespace loopbrick {
namespace {

struct Cell {
  std::optional<double> value;
  std::string reason;
};

Cell unknown(const std::string& reason) {
  return {.value = std::nullopt, .reason = "not available: " + reason};
}

struct Row {
  std::string name;
  std::function<Cell(const Side&)> cell;
};

Row by_model(std::string name, std::function<double(const ScheduleCosts&)> cost) {
  return {std::move(name), [cost = std::move(cost)](const Side& side) {
            if (side.costs) return Cell{.value = cost(*side.costs), .reason = {}};
            return unknown("known of our schedules only");
          }};
}

Cell executed_flops(const Side& side) {
  if (side.costs) return {.value = side.costs->executed_flops, .reason = {}};
  const double told = side.counted ? side.counted->attempt.executed_flops : 0.0;
  if (told > 0.0) return {.value = told, .reason = {}};
  if (side.stored && side.stored->executed_flops > 0.0) {
    return {.value = side.stored->executed_flops, .reason = {}};
  }
  return unknown("this implementation does not tell");
}

Cell stored_seconds(const Side& side) {
  if (!side.stored) return unknown("no trial in the database");
  const Measured& seen =
      side.stored->confirmed.n > 0 ? side.stored->confirmed : side.stored->search;
  return {.value = seen.median, .reason = {}};
}

Cell counted_seconds(const Side& side) {
  const Attempt& attempt = side.counted->attempt;
  if (attempt.outcome != "ok") return unknown(attempt.outcome + ", " + attempt.reason);
  return {.value = attempt.samples.front().seconds, .reason = {}};
}

Cell reading_of(const Side& side, const std::string& event) {
  for (const Reading& reading : side.counted->readings) {
    if (reading.name == event) return {.value = reading.count, .reason = reading.reason};
  }
  return unknown("it did not run");
}

std::vector<Row> rows_of_costs() {
  return {
      {"executed FLOPs", executed_flops},
      by_model("kernel calls", [](const auto& of) { return static_cast<double>(of.calls); }),
      by_model("barriers", [](const auto& of) { return static_cast<double>(of.barriers); }),
      by_model("bytes L1 - L2", [](const auto& of) { return of.l2_bytes; }),
      by_model("bytes L2 - L3", [](const auto& of) { return of.l3_bytes; }),
      by_model("bytes L3 - memory", [](const auto& of) { return of.dram_bytes; }),
      by_model("thread imbalance", [](const auto& of) { return of.imbalance; }),
      by_model("predicted, s", [](const auto& of) { return of.seconds; }),
      {"stored, s", stored_seconds},
  };
}

std::vector<Row> rows_of_counters() {
  std::vector<Row> rows{{"timed now, s", counted_seconds}};
  for (const CounterEvent& event : hardware_events()) {
    rows.push_back(
        {event.name, [name = event.name](const Side& side) { return reading_of(side, name); }});
  }
  return rows;
}

std::string text_of(const Cell& cell) { return cell.value ? number(*cell.value, 6) : cell.reason; }

std::optional<std::string> ratio(const Cell& first, const Cell& second) {
  if (!first.value || !second.value || *first.value == 0.0) return std::nullopt;
  return number(*second.value / *first.value);
}

}  // namespace

Table side_by_side(const std::vector<Side>& sides) {
  const bool has_two = sides.size() == 2;
  std::vector<Row> rows = rows_of_costs();
  if (sides.front().counted) {
    for (Row& row : rows_of_counters()) rows.push_back(std::move(row));
  }
  Table table{.columns = {"of one run", "A"}, .rows = {}};
  if (has_two) table.columns.insert(table.columns.end(), {"B", "B / A"});
  for (const Row& row : rows) {
    const Cell first = row.cell(sides.front());
    auto& cells = table.rows.emplace_back();
    cells = {row.name, text_of(first)};
    if (!has_two) continue;
    const Cell second = row.cell(sides.back());
    cells.emplace_back(text_of(second));
    cells.push_back(ratio(first, second));
  }
  return table;
}

}  // namespace loopbrick
