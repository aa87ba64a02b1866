#include "tuner/timing_table.h"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include "kernels/text.h"

namespace loopbrick {

namespace {

constexpr std::string_view kMeasuredColumns[] = {"schedule", "predicted_s", "seconds", "confirmed"};
constexpr std::size_t kMeasured = std::size(kMeasuredColumns);
constexpr std::string_view kChoice = "choice ";
constexpr std::string_view kRefinement = "refinement ";

bool comes_before(const Point& left, const Point& right) {
  return std::lexicographical_compare(left.begin(), left.end(), right.begin(), right.end());
}

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string all = "\"";
  for (const char c : text) all += c == '"' ? std::string("\"\"") : std::string(1, c);
  return all + "\"";
}

/// The cells of one line; quotes as in RFC 4180.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && is_quoted && i + 1 < line.size() && line[i + 1] == '"') {
      cells.back() += line[++i];
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (c == ',' && !is_quoted) {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  if (is_quoted) throw ParseError(fmt::format("'{}' has a quote that does not end", line));
  return cells;
}

double parse_seconds(const std::string& text, std::string_view what) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) ||
      value < 0.0) {
    throw ParseError(fmt::format("{} '{}' is no time in seconds", what, text));
  }
  return value;
}

constexpr std::string_view kBetween = " | ";

std::vector<std::string> values_of(std::string_view list) {
  std::vector<std::string> values;
  while (true) {
    const std::size_t end = list.find(kBetween);
    values.emplace_back(list.substr(0, end));
    if (end == std::string_view::npos) return values;
    list.remove_prefix(end + kBetween.size());
  }
}

std::uint16_t place_of(const Choice& choice, const std::string& value) {
  const auto found = std::find(choice.values.begin(), choice.values.end(), value);
  if (found == choice.values.end())
    throw ParseError(fmt::format("'{}' is no value of {}", value, choice.name));
  return static_cast<std::uint16_t>(found - choice.values.begin());
}

/// Reads a text line by line.
class Reader {
 public:
  explicit Reader(std::string_view name) { table_.name = std::string(name); }

  void read(std::string_view line) {
    if (line.starts_with("# ")) return read_fact(line.substr(2));
    if (line.empty()) return;
    const std::vector<std::string> cells = cells_of(line);
    if (has_header_) return read_row(cells);
    check_header(cells);
    has_header_ = true;
  }

  TimingTable finished() {
    if (!has_header_) throw ParseError(table_.name + ": no header and no rows");
    std::sort(table_.rows.begin(), table_.rows.end(), [](const auto& left, const auto& right) {
      return comes_before(left.point, right.point);
    });
    const auto twice =
        std::adjacent_find(table_.rows.begin(), table_.rows.end(),
                           [](const auto& a, const auto& b) { return a.point == b.point; });
    if (twice != table_.rows.end())
      throw ParseError(fmt::format("{}: '{}' stands twice", table_.name, twice->schedule));
    if (best_seconds(table_) >= 1e300)
      throw ParseError(fmt::format("{}: no schedule has a time", table_.name));
    return std::move(table_);
  }

 private:
  void read_fact(std::string_view text) {
    const std::size_t colon = text.find(": ");
    if (colon == std::string_view::npos)
      throw ParseError(fmt::format("'# {}' is no '# name: text'", text));
    const std::string_view name = text.substr(0, colon);
    const std::string_view fact = text.substr(colon + 2);
    for (const std::string_view kind : {kChoice, kRefinement}) {
      if (!name.starts_with(kind)) continue;
      table_.choices.push_back({.name = std::string(name.substr(kind.size())),
                                .values = values_of(fact),
                                .is_refinement = kind == kRefinement});
      return;
    }
    table_.facts.emplace_back(name, fact);
  }

  void check_header(const std::vector<std::string>& cells) const {
    std::vector<std::string> expected;
    for (const Choice& choice : table_.choices) expected.push_back(choice.name);
    expected.insert(expected.end(), std::begin(kMeasuredColumns), std::end(kMeasuredColumns));
    if (table_.choices.empty() || std::ssize(table_.choices) > Point::capacity())
      throw ParseError(fmt::format("a table has 1 to {} choices", Point::capacity()));
    if (cells != expected)
      throw ParseError(fmt::format("the header must be {}", fmt::join(expected, ",")));
  }

  void read_row(const std::vector<std::string>& cells) {
    const std::size_t choices = table_.choices.size();
    if (cells.size() != choices + kMeasured) {
      throw ParseError(
          fmt::format("{} cells, not the {} of the header", cells.size(), choices + kMeasured));
    }
    TimingRow row;
    for (std::size_t i = 0; i < choices; ++i)
      row.point.push_back(place_of(table_.choices[i], cells[i]));
    row.schedule = cells[choices];
    row.predicted = parse_seconds(cells[choices + 1], "predicted_s");
    row.seconds = parse_seconds(cells[choices + 2], "seconds");
    const std::string& confirmed = cells[choices + 3];
    if (confirmed != "yes" && confirmed != "no")
      throw ParseError(fmt::format("confirmed is yes or no, not '{}'", confirmed));
    row.confirmed = confirmed == "yes";
    table_.rows.push_back(std::move(row));
  }

  TimingTable table_;
  bool has_header_ = false;
};

}  // namespace

TimingTable parse_timing_table(std::string_view name, std::string_view text) {
  Reader reader(name);
  for (std::int64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    try {
      reader.read(text.substr(0, end));
    } catch (const ParseError& error) {
      throw ParseError(fmt::format("{}:{}: {}", name, number, error.what()));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.finished();
}

std::string to_string(const TimingTable& table) {
  std::string text;
  for (const auto& [name, fact] : table.facts) text += fmt::format("# {}: {}\n", name, fact);
  for (const Choice& choice : table.choices) {
    text += fmt::format("# {}{}: {}\n", choice.is_refinement ? kRefinement : kChoice, choice.name,
                        fmt::join(choice.values, kBetween));
  }
  for (const Choice& choice : table.choices) text += quoted(choice.name) + ",";
  text += fmt::format("{}\n", fmt::join(kMeasuredColumns, ","));
  for (const TimingRow& row : table.rows) {
    for (int i = 0; i < row.point.size(); ++i)
      text += quoted(table.choices[static_cast<std::size_t>(i)].values[row.point[i]]) + ",";
    text += fmt::format("{},{:.6g},{:.6g},{}\n", quoted(row.schedule), row.predicted, row.seconds,
                        row.confirmed ? "yes" : "no");
  }
  return text;
}

const TimingRow& row_of(const TimingTable& table, const Point& point) {
  const auto found = std::lower_bound(
      table.rows.begin(), table.rows.end(), point,
      [](const TimingRow& row, const Point& wanted) { return comes_before(row.point, wanted); });
  assert(found != table.rows.end() && found->point == point);
  return *found;
}

Space space_of(const TimingTable& table) {
  Space space;
  space.choices = table.choices;
  // Rows are sorted by point: those that begin with a prefix follow each other.
  space.why_not = [&table](const Point& prefix) -> std::optional<Refusal> {
    const auto found = std::lower_bound(
        table.rows.begin(), table.rows.end(), prefix,
        [](const TimingRow& row, const Point& wanted) { return comes_before(row.point, wanted); });
    const bool is_there =
        found != table.rows.end() && std::equal(prefix.begin(), prefix.end(), found->point.begin());
    return is_there ? std::nullopt : std::optional(Refusal{.sentence = "no point of the table"});
  };
  space.text = [&table](const Point& point) { return row_of(table, point).schedule; };
  space.predict = [&table](const Point& point) { return row_of(table, point).predicted; };
  return space;
}

double best_seconds(const TimingTable& table) {
  const bool any_confirmed = std::any_of(table.rows.begin(), table.rows.end(),
                                         [](const TimingRow& row) { return row.confirmed; });
  double best = 1e300;
  for (const TimingRow& row : table.rows) {
    if (row.seconds > 0.0 && (row.confirmed || !any_confirmed)) best = std::min(best, row.seconds);
  }
  return best;
}

}  // namespace loopbrick
