#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "problems/problem.h"

namespace loopbrick {

/// What a command line is about, as typed. An empty flag was not given.
struct WhatRequest {
  std::vector<std::string> texts;    ///< problem texts
  std::vector<std::string> suites;   ///< NAME, NAME:LAYERS or FILE.csv
  std::vector<std::string> batches;  ///< benchdnn batch files
  std::string kind;         ///< conv if not given; of texts without a kind, suites and batch files
  std::string dirs;         ///< "fwd,bwd_d"
  std::string types;        ///< "f32,bf16"
  std::string minibatches;  ///< "1,2,4..8"
  std::string layouts;      ///< "blocked,nhwc"
  std::int64_t default_minibatch =
      1;  ///< where neither flag nor text has one: the number of threads
};

struct NamedProblem {
  std::string label;  ///< for people: "resnet50:13", or the problem's text
  std::string suite;  ///< of a suite or batch file its name; empty for a typed text
  std::string layer;
  std::int64_t multiplicity = 1;
  Problem problem;
};

/// A shape of a batch file that cannot be run, and why.
struct RefusedProblem {
  std::string label;
  std::string suite;
  std::string layer;
  std::string reason;
};

struct What {
  std::vector<NamedProblem> problems;
  std::vector<RefusedProblem> refused;
};

/// Every problem that the request names, for each of its passes, types, minibatches and layouts.
///
/// Errors  throws ParseError that names the bad text, file or flag; a flag that contradicts a text
/// ("--dir fwd" for
///         "conv bwd_w ...") is one, and so is a request without any problem.
What resolve(const WhatRequest& request);

}  // namespace loopbrick
