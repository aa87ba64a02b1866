#include "results/table_format.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace loopbrick {

namespace {

using Cell = std::optional<std::string>;

std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0) ++at;
  return at;
}

/// Is this a number as JSON writes it: 12, -0.5, 1e-05, but neither 007 nor .5 nor inf?
bool is_number(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  const std::size_t whole = skip_digits(text, 0);
  if (whole == 0 || (whole > 1 && text[0] == '0')) return false;
  text.remove_prefix(whole);
  if (text.starts_with('.')) {
    const std::size_t end = skip_digits(text, 1);
    if (end == 1) return false;
    text.remove_prefix(end);
  }
  if (text.starts_with('e') || text.starts_with('E')) {
    const std::size_t sign = text.size() > 1 && (text[1] == '-' || text[1] == '+') ? 2 : 1;
    const std::size_t end = skip_digits(text, sign);
    return end > sign && end == text.size();
  }
  return text.empty();
}

std::vector<bool> columns_of_numbers(const Table& table) {
  std::vector<bool> numbers(table.columns.size(), true);
  std::vector<bool> seen(table.columns.size(), false);
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!row[i]) continue;
      seen[i] = true;
      numbers[i] = numbers[i] && is_number(*row[i]);
    }
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = numbers[i] && seen[i];
  return numbers;
}

std::string escaped(std::string_view text, std::string_view plain_but) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      if (plain_but.find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out;
}

/// Bytes of the UTF-8 sequence at the front of `text`; 0 if it is none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (length == 0 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  }
  const bool is_overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool is_beyond = (first == 0xED && byte(1) > 0x9F) || (first == 0xF4 && byte(1) > 0x8F);
  return is_overlong || is_beyond ? 0 : length;
}

}  // namespace

std::string as_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    out += length > 0 ? text.substr(0, length) : "\xEF\xBF\xBD";
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return out;
}

namespace {

std::string in_quotes(std::string_view text) {
  return fmt::format("\"{}\"", escaped(as_utf8(text), "\"\\"));
}

std::size_t width_of(std::string_view text) {  // code points: UTF-8 continuation bytes are 10xxxxxx
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string padded(const std::string& text, std::size_t width, bool to_the_right) {
  const std::string blanks(width - width_of(text), ' ');
  return to_the_right ? blanks + text : text + blanks;
}

std::string aligned_line(const std::vector<std::string>& cells,
                         const std::vector<std::size_t>& widths, const std::vector<bool>& numbers) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    line += (i > 0 ? "  " : "") + padded(cells[i], widths[i], numbers[i]);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string as_table(const Table& table) {
  std::vector<std::vector<std::string>> lines{table.columns};
  for (const auto& row : table.rows) {
    auto& line = lines.emplace_back();
    for (const Cell& cell : row) line.push_back(cell ? escaped(*cell, "") : "-");
  }
  std::vector<std::size_t> widths(table.columns.size(), 0);
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], width_of(line[i]));
  }
  const auto numbers = columns_of_numbers(table);
  std::string text;
  for (const auto& line : lines) text += aligned_line(line, widths, numbers);
  return text;
}

std::string json_cell(const Cell& cell, bool is_numeric) {
  if (!cell) return "null";
  return is_numeric ? *cell : in_quotes(*cell);
}

std::string as_json(const Table& table) {
  const auto numbers = columns_of_numbers(table);
  std::vector<std::string> objects;
  for (const auto& row : table.rows) {
    std::vector<std::string> members;
    for (std::size_t i = 0; i < row.size(); ++i) {
      members.push_back(
          fmt::format("{}: {}", in_quotes(table.columns[i]), json_cell(row[i], numbers[i])));
    }
    objects.push_back(fmt::format("  {{{}}}", fmt::join(members, ", ")));
  }
  if (objects.empty()) return "[]\n";
  return fmt::format("[\n{}\n]\n", fmt::join(objects, ",\n"));
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string as_csv(const Table& table) {
  std::vector<std::string> cells;
  for (const auto& column : table.columns) cells.push_back(csv_cell(column));
  std::string text = fmt::format("{}\n", fmt::join(cells, ","));
  for (const auto& row : table.rows) {
    cells.clear();
    for (const Cell& cell : row) cells.push_back(csv_cell(cell.value_or("")));
    text += fmt::format("{}\n", fmt::join(cells, ","));
  }
  return text;
}

std::string as_md(const Table& table) {
  const auto numbers = columns_of_numbers(table);
  std::vector<std::string> cells;
  for (const auto& column : table.columns) cells.push_back(escaped(column, "|"));
  std::string text = fmt::format("| {} |\n", fmt::join(cells, " | "));
  cells.clear();
  for (const bool is_numeric : numbers) cells.emplace_back(is_numeric ? "---:" : "---");
  text += fmt::format("| {} |\n", fmt::join(cells, " | "));
  for (const auto& row : table.rows) {
    cells.clear();
    for (const Cell& cell : row) cells.push_back(escaped(cell.value_or(""), "|"));
    text += fmt::format("| {} |\n", fmt::join(cells, " | "));
  }
  return text;
}

struct Format {
  std::string_view name;
  TableFormat format;
  std::string (*print)(const Table&);
};
constexpr Format kFormats[] = {{"table", TableFormat::table, as_table},
                               {"json", TableFormat::json, as_json},
                               {"csv", TableFormat::csv, as_csv},
                               {"md", TableFormat::md, as_md}};

}  // namespace

std::optional<TableFormat> parse_table_format(std::string_view text) {
  for (const Format& known : kFormats) {
    if (known.name == text) return known.format;
  }
  return std::nullopt;
}

std::string format_table(const Table& table, TableFormat format) {
  return kFormats[static_cast<std::size_t>(format)].print(table);
}

}  // namespace loopbrick
