#include "problems/suite.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "kernels/text.h"
#include "problems/embedded_suites.h"
#include "problems/lists.h"
#include "problems/text_file.h"

namespace loopbrick {
namespace {

constexpr std::string_view kHeader = "layer,problem,count";

SuiteLayer parse_layer(std::string_view line, const ProblemDefaults& defaults) {
  const std::vector<std::string_view> fields = split_list(line);
  if (fields.size() != 3) {
    throw ParseError(
        fmt::format("'{}' has {} fields, not the 3 of {}", line, fields.size(), kHeader));
  }
  return {.layer = std::string(fields[0]),
          .problem = parse_problem(fields[1], defaults),
          .count = parse_count(fields[2], "count", 1)};
}

void add_layer(Suite& suite, SuiteLayer layer) {
  if (std::ranges::find(suite.layers, layer.layer, &SuiteLayer::layer) != suite.layers.end()) {
    throw ParseError(fmt::format("layer '{}' is given twice", layer.layer));
  }
  suite.layers.push_back(std::move(layer));
}

/// The header, or a layer; what is behind # is nothing.
void read_line(Suite& suite, std::string_view line, bool& header_seen,
               const ProblemDefaults& defaults) {
  line = line.substr(0, line.find('#'));
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
  if (header_seen) return add_layer(suite, parse_layer(line, defaults));
  if (!line.starts_with(kHeader))
    throw ParseError(fmt::format("'{}' is not the header {}", line, kHeader));
  header_seen = true;
}

std::string names() {
  std::string text;
  for (const std::string_view name : suite_names())
    text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
  return text;
}

Suite load_whole(std::string_view name, const ProblemDefaults& defaults) {
  if (name.ends_with(".csv")) {
    const std::filesystem::path file(name);
    return parse_suite(file.stem().string(), read_text_file(file), defaults);
  }
  const auto suites = embedded_suites();
  const auto suite = std::ranges::find(suites, name, &EmbeddedSuite::name);
  if (suite != suites.end()) return parse_suite(name, suite->csv, defaults);
  throw ParseError(
      fmt::format("'{}' is no suite; there are {}, or name a FILE.csv", name, names()));
}

std::size_t index_of(const Suite& suite, std::string_view layer) {
  const auto found = std::ranges::find(suite.layers, layer, &SuiteLayer::layer);
  if (found != suite.layers.end()) return static_cast<std::size_t>(found - suite.layers.begin());
  std::string layers;
  for (const SuiteLayer& known : suite.layers) layers += fmt::format(" {}", known.layer);
  throw ParseError(
      fmt::format("'{}' is no layer of suite {}; its layers are{}", layer, suite.name, layers));
}

Suite select(const Suite& suite, std::string_view layers) {
  Suite selected{.name = suite.name, .layers = {}};
  for (const std::string_view piece : split_list(layers)) {
    const std::size_t dots = piece.find("..");
    const std::size_t first = index_of(suite, piece.substr(0, dots));
    const std::size_t last =
        dots == std::string_view::npos ? first : index_of(suite, piece.substr(dots + 2));
    if (last < first)
      throw ParseError(
          fmt::format("'{}' falls; suite {} has them the other way", piece, suite.name));
    for (std::size_t i = first; i <= last; ++i) selected.layers.push_back(suite.layers[i]);
  }
  if (selected.layers.empty())
    throw ParseError(fmt::format("no layer stands behind '{}:'", suite.name));
  return selected;
}

/// Where NAME:LAYERS is cut: a colon in a file's path is none.
std::size_t colon_of(std::string_view text) {
  const std::size_t suffix = text.find(".csv:");
  return suffix != std::string_view::npos ? suffix + 4
         : text.ends_with(".csv")         ? suffix
                                          : text.find(':');
}

}  // namespace

std::vector<std::string_view> suite_names() {
  std::vector<std::string_view> all;
  for (const EmbeddedSuite& suite : embedded_suites()) all.push_back(suite.name);
  return all;
}

Suite parse_suite(std::string_view name, std::string_view csv, const ProblemDefaults& defaults) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // as Windows begins its texts
  if (csv.starts_with(kByteOrderMark)) csv.remove_prefix(kByteOrderMark.size());
  Suite suite{.name = std::string(name), .layers = {}};
  bool header_seen = false;
  std::int64_t number = 0;
  while (!csv.empty()) {
    const std::size_t end = std::min(csv.find('\n'), csv.size());
    ++number;
    try {
      read_line(suite, csv.substr(0, end), header_seen, defaults);
    } catch (const ParseError& error) {
      throw ParseError(fmt::format("{}:{}: {}", name, number, error.what()));
    }
    csv.remove_prefix(std::min(end + 1, csv.size()));
  }
  if (suite.layers.empty()) throw ParseError(fmt::format("suite {} has no layers", name));
  return suite;
}

Suite load_suite(std::string_view text, const ProblemDefaults& defaults) {
  const std::size_t colon = colon_of(text);
  const Suite suite = load_whole(text.substr(0, colon), defaults);
  return colon == std::string_view::npos ? suite : select(suite, text.substr(colon + 1));
}

}  // namespace loopbrick
