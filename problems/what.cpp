#include "problems/what.h"

#include <filesystem>
#include <fmt/format.h>
#include <optional>

#include "problems/batch_file.h"
#include "problems/lists.h"
#include "problems/suite.h"

namespace loopbrick {
namespace {

template <typename Value>
std::vector<Value> parse_list(std::string_view text, Value (*parse)(std::string_view)) {
  std::vector<Value> values;
  for (const std::string_view piece : split_list(text)) values.push_back(parse(piece));
  return values;
}

/// The flags, parsed.
struct Flags {
  std::string kind;
  std::vector<Pass> passes;
  std::vector<DType> types;
  std::vector<std::int64_t> minibatches;
  std::vector<Layout> layouts;
};

Flags parse_flags(const WhatRequest& request) {
  return {.kind = request.kind.empty() ? "" : std::string(parse_kind(request.kind)),
          .passes = parse_list(request.dirs, parse_pass),
          .types = parse_list(request.types, parse_dtype),
          .minibatches = parse_count_list(request.minibatches, "--mb"),
          .layouts = parse_list(request.layouts, parse_layout)};
}

template <typename Value>
std::vector<std::optional<Value>> given_or_none(const std::vector<Value>& values) {
  std::vector<std::optional<Value>> all(values.begin(), values.end());
  if (all.empty()) all.emplace_back();
  return all;
}

/// One of each flag; what was not given is nothing.
struct Setting {
  std::optional<Pass> pass;
  std::optional<DType> type;
  std::optional<std::int64_t> minibatch;
  std::optional<Layout> layout;
};

std::vector<Setting> settings_of(const Flags& flags) {
  std::vector<Setting> all;
  for (const auto& type : given_or_none(flags.types)) {
    for (const auto& layout : given_or_none(flags.layouts)) {
      for (const auto& pass : given_or_none(flags.passes)) {
        for (const auto& minibatch : given_or_none(flags.minibatches)) {
          all.push_back({.pass = pass, .type = type, .minibatch = minibatch, .layout = layout});
        }
      }
    }
  }
  return all;
}

ProblemDefaults defaults_of(const Flags& flags, const Setting& setting, std::int64_t minibatch) {
  ProblemDefaults defaults;
  if (!flags.kind.empty()) defaults.kind = flags.kind;
  defaults.pass = setting.pass.value_or(defaults.pass);
  defaults.type = setting.type.value_or(defaults.type);
  defaults.minibatch = setting.minibatch.value_or(minibatch);
  defaults.layout = setting.layout.value_or(defaults.layout);
  return defaults;
}

std::optional<std::int64_t> minibatch_of(const Problem& problem) {
  if (const auto* conv = std::get_if<Conv>(&problem.shape)) return conv->n;
  if (const auto* fc = std::get_if<Fc>(&problem.shape)) return fc->n;
  if (const auto* lstm = std::get_if<Lstm>(&problem.shape)) return lstm->n;
  return std::nullopt;
}

void contradict(std::string_view flag, std::string_view value, std::string_view text) {
  throw ParseError(fmt::format("--{} {} contradicts the problem '{}'", flag, value, text));
}

/// A text wins over defaults; if a flag was given and did not win, they contradict each other.
void check_flags(const Flags& flags, const Setting& setting, const Problem& problem,
                 std::string_view text) {
  if (!flags.kind.empty() && kind_of(problem) != flags.kind) contradict("kind", flags.kind, text);
  if (setting.pass && problem.pass != *setting.pass)
    contradict("dir", to_string(*setting.pass), text);
  if (setting.type && problem.type != *setting.type)
    contradict("dt", to_string(*setting.type), text);
  if (setting.layout && problem.layout != *setting.layout)
    contradict("layout", to_string(*setting.layout), text);
  if (setting.minibatch && minibatch_of(problem).value_or(0) != *setting.minibatch) {
    contradict("mb", std::to_string(*setting.minibatch), text);
  }
}

void add_text(What& what, const std::string& text, const Flags& flags, std::int64_t minibatch) {
  for (const Setting& setting : settings_of(flags)) {
    const Problem problem = parse_problem(text, defaults_of(flags, setting, minibatch));
    check_flags(flags, setting, problem, text);
    what.problems.push_back(
        {.label = to_string(problem), .suite = "", .layer = "", .problem = problem});
  }
}

void add_suite(What& what, const std::string& name, const Flags& flags, std::int64_t minibatch) {
  for (const Setting& setting : settings_of(flags)) {
    const Suite suite = load_suite(name, defaults_of(flags, setting, minibatch));
    for (const SuiteLayer& layer : suite.layers) {
      check_flags(flags, setting, layer.problem, to_string(layer.problem));
      what.problems.push_back({.label = fmt::format("{}:{}", suite.name, layer.layer),
                               .suite = suite.name,
                               .layer = layer.layer,
                               .multiplicity = layer.count,
                               .problem = layer.problem});
    }
  }
}

void add_entry(What& what, const std::string& suite, const BatchEntry& entry) {
  if (const auto* problem = std::get_if<Problem>(&entry.problem)) {
    what.problems.push_back({.label = entry.name,
                             .suite = suite,
                             .layer = entry.name,
                             .multiplicity = entry.multiplicity,
                             .problem = *problem});
  } else {
    what.refused.push_back({.label = entry.name,
                            .suite = suite,
                            .layer = entry.name,
                            .reason = std::get<std::string>(entry.problem)});
  }
}

void add_batch(What& what, const std::string& name, const Flags& flags, std::int64_t minibatch) {
  const std::filesystem::path file(name);
  for (const auto& layout : given_or_none(flags.layouts)) {
    const BatchOptions options{.defaults = defaults_of(flags, {.layout = layout}, minibatch),
                               .passes = flags.passes,
                               .types = flags.types,
                               .minibatches = flags.minibatches};
    for (const BatchEntry& entry : load_batch(file, options))
      add_entry(what, file.filename().string(), entry);
  }
}

}  // namespace

What resolve(const WhatRequest& request) {
  const Flags flags = parse_flags(request);
  What what;
  for (const std::string& text : request.texts)
    add_text(what, text, flags, request.default_minibatch);
  for (const std::string& name : request.suites)
    add_suite(what, name, flags, request.default_minibatch);
  for (const std::string& name : request.batches)
    add_batch(what, name, flags, request.default_minibatch);
  if (what.problems.empty() && what.refused.empty()) {
    throw ParseError("no problem is named; give a problem text, --suite NAME or --batch FILE");
  }
  return what;
}

}  // namespace loopbrick
