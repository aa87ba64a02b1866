#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "problems/suite.h"

namespace loopbrick {

/// What a program asked of oneDNN, as its log with ONEDNN_VERBOSE=1 (DNNL_VERBOSE in old versions)
/// tells.
struct VerboseLog {
  Suite suite;  ///< each problem once, in the order of its first call, counted
  std::int64_t calls = 0;
  std::map<std::string, std::int64_t> skipped;  ///< calls that are no problem of ours, by reason
};

/// Convolutions, inner products, matrix products and LSTMs that ran on the CPU. Other primitives
/// (reorders, pooling ...) and other programs' lines are passed over in silence.
///
/// Text    versions 2 and 3: "onednn_verbose,[v1,][TIME,][primitive,]exec,ENGINE,PRIMITIVE,
/// IMPLEMENTATION,PROPAGATION,MEMORY,ATTRIBUTES,AUXILIARY,PROBLEM,MILLISECONDS".
VerboseLog parse_verbose_log(std::string_view name, std::string_view text);

/// The suite as the CSV that --suite reads.
std::string to_csv(const Suite& suite);

}  // namespace loopbrick
