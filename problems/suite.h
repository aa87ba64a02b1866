#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "problems/problem.h"

namespace loopbrick {

struct SuiteLayer {
  std::string layer;  ///< its id: "13", "conv1_1"
  Problem problem;
  std::int64_t count = 1;  ///< how often the network has it
};

/// A named list of problems.
///
/// Text  lines "layer,problem,count" under that header; # begins a comment. The problem texts leave
/// out mb.
struct Suite {
  std::string name;
  std::vector<SuiteLayer> layers;
};

/// The suites that are built in (experiments/suites).
std::vector<std::string_view> suite_names();

/// A built-in suite by name or a CSV file by path (anything that ends in .csv), or some of its
/// layers: "resnet50", "resnet50:13", "resnet50:4,8,13", "resnet50:1..5" (from layer 1 to layer 5
/// in the file's order).
///
/// Errors  throws ParseError that names the unknown suite or layer, or file and line.
Suite load_suite(std::string_view text, const ProblemDefaults& defaults = {});

/// Errors  throws ParseError "NAME:LINE: ..." for a missing header, field or count, a bad problem,
/// a layer given twice.
Suite parse_suite(std::string_view name, std::string_view csv,
                  const ProblemDefaults& defaults = {});

}  // namespace loopbrick
