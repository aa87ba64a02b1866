#include "cli/what_options.h"

#include <fmt/format.h>
#include <sstream>
#include <string_view>

#include "cli/command_line.h"
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

void add_what_options(Command& command, WhatOptions& options) {
  WhatRequest& request = options.request;
  command.add({"what", "Problems: mb2ic64ih56oc64oh56kh3ph1, gemm 64x64:64x64bs4, ...", "PROBLEM"},
              request.texts);
  command.add({"--suite", "A suite (see: loopbrick suites) or some layers", "NAME[:LAYERS]"},
              request.suites);
  command.add({"--batch", "A file of shapes in benchdnn's syntax", "FILE"}, request.batches);
  command.add({"--kind", "gemm, conv, fc or lstm, where a text does not say it", "KIND", "conv"},
              request.kind);
  command.add({"--dir", "Passes: fwd, bwd_d, bwd_w, ...", "LIST", "fwd"}, request.dirs);
  command.add({"--mb", "Minibatches, e.g. 1,16 or 1..4", "LIST", "the number of threads"},
              request.minibatches);
  command.add({"--dt", "Types", "LIST", "f32"}, request.types);
  command.add({"--layout", "blocked, nhwc", "LIST", "blocked"}, request.layouts);
  command.add({"--threads", "Numbers of threads, e.g. 1,2,4", "LIST", "all that may run"},
              options.threads);
  command.add({"--isa", "ref, avx2, avx512", "LIST", "the best"}, options.isas);
  command.add({"--cache", "warm, cold", "LIST"}, options.caches);
  command.add_flag(
      "--once",
      "Passes by data transpose their weights outside of the time, as libraries do that "
      "choose the weights' layout",
      options.transposes_once);
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
        works.push_back({.conditions = {.threads = threads,
                                        .isa = isa,
                                        .cache = cache,
                                        .transposes_once = options.transposes_once},
                         .what = what});
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
