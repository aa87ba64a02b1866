#include "cli/what_options.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <sstream>
#include <string_view>

#include "kernels/text.h"
#include "measure/machine.h"
#include "problems/lists.h"

namespace loopbrick {
namespace {

template <typename Parse>
bool parses(Parse parse, std::string_view word) {
  try {
    parse(word);
    return true;
  } catch (const ParseError&) {
    return false;
  }
}

/// "conv", "bwd_d", "f32", "nhwc": what stands before a problem's sizes.
bool is_prefix(std::string_view word) {
  return parses(parse_kind, word) || parses(parse_pass, word) || parses(parse_dtype, word) ||
         parses(parse_layout, word);
}

/// One text a problem: the sizes end it.
std::vector<std::string> join_texts(const std::vector<std::string>& arguments) {
  std::vector<std::string> texts;
  bool is_open = false;
  for (const std::string& argument : arguments) {
    std::istringstream words(argument);
    for (std::string word; words >> word;) {
      if (is_open) {
        texts.back() += " " + word;
      } else {
        texts.push_back(word);
      }
      is_open = is_prefix(word);
    }
  }
  return texts;
}

std::vector<Isa> parse_isas(std::string_view text) {
  std::vector<Isa> isas;
  for (const std::string_view piece : split_list(text)) {
    isas.push_back(parse_isa(piece));
    if (isas.back() > best_isa()) {
      throw ParseError(
          fmt::format("--isa {}: this CPU runs at most {}", piece, to_string(best_isa())));
    }
  }
  if (isas.empty()) isas.push_back(best_isa());
  return isas;
}

std::vector<CacheState> parse_caches(std::string_view text) {
  std::vector<CacheState> caches;
  for (const std::string_view piece : split_list(text)) {
    if (piece != "warm" && piece != "cold") {
      throw ParseError(fmt::format("--cache '{}' is neither warm nor cold", piece));
    }
    caches.push_back(piece == "warm" ? CacheState::warm : CacheState::cold);
  }
  if (caches.empty()) caches.push_back(CacheState::warm);
  return caches;
}

std::vector<int> parse_threads(std::string_view text) {
  constexpr std::int64_t kMost = 4096;
  std::vector<int> threads;
  for (const std::int64_t count : parse_count_list(text, "--threads")) {
    if (count > kMost) throw ParseError(fmt::format("--threads {}: at most {}", count, kMost));
    threads.push_back(static_cast<int>(count));
  }
  if (threads.empty()) threads.push_back(available_threads());
  return threads;
}

}  // namespace

void add_what_options(CLI::App& command, WhatOptions& options) {
  WhatRequest& request = options.request;
  command
      .add_option("what", request.texts,
                  "Problems: mb2ic64ih56oc64oh56kh3ph1, gemm 64x64:64x64bs4, ...")
      ->type_name("PROBLEM");
  command.add_option("--suite", request.suites, "A suite (see: loopbrick suites) or some layers")
      ->type_name("NAME[:LAYERS]")
      ->allow_extra_args(false);
  command.add_option("--batch", request.batches, "A file of shapes in benchdnn's syntax")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command
      .add_option("--kind", request.kind, "gemm, conv, fc or lstm, where a text does not say it")
      ->default_str("conv");
  command.add_option("--dir", request.dirs, "Passes: fwd, bwd_d, bwd_w, ...")->default_str("fwd");
  command.add_option("--mb", request.minibatches, "Minibatches, e.g. 1,16 or 1..4")
      ->default_str("the number of threads");
  command.add_option("--dt", request.types, "Types: f32")->default_str("f32");
  command.add_option("--layout", request.layouts, "blocked, nhwc")->default_str("blocked");
  command.add_option("--threads", options.threads, "Numbers of threads, e.g. 1,2,4")
      ->default_str("all that may run");
  command.add_option("--isa", options.isas, "ref, avx2, avx512")->default_str("the best");
  command.add_option("--cache", options.caches, "warm, cold")->capture_default_str();
}

std::vector<Layer> layers_of(const What& what) {
  std::vector<Layer> layers;
  for (const NamedProblem& named : what.problems) {
    layers.push_back({.label = named.label, .problem = named.problem, .count = named.multiplicity});
  }
  return layers;
}

std::vector<Work> expand(const WhatOptions& options) {
  WhatRequest request = options.request;
  request.texts = join_texts(request.texts);
  std::vector<Work> works;
  for (const int threads : parse_threads(options.threads)) {
    request.default_minibatch = threads;
    const What what = resolve(request);
    for (const Isa isa : parse_isas(options.isas)) {
      for (const CacheState cache : parse_caches(options.caches)) {
        works.push_back(
            {.conditions = {.threads = threads, .isa = isa, .cache = cache}, .what = what});
      }
    }
  }
  return works;
}

OneProblem expand_one(const WhatOptions& options) {
  const std::vector<Work> works = expand(options);
  const What& what = works.front().what;
  if (works.size() != 1 || what.problems.size() + what.refused.size() != 1) {
    throw ParseError("this command takes one problem under one set of conditions");
  }
  if (!what.refused.empty())
    throw ParseError(what.refused[0].label + ": " + what.refused[0].reason);
  return {.conditions = works.front().conditions, .named = what.problems[0]};
}

}  // namespace loopbrick
