#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "problems/problem.h"

namespace loopbrick {

/// The descriptor of one kind of problem: what stands behind kind, pass and type in a problem's
/// text.
///
/// Text    "mb2ic64ih56oc64oh56kh3ph1", "64x33:33x64bs16", "mb168ic1024oc1024", "t50mb168sic1024";
///         parse_... and to_string are inverses. A missing mb is `minibatch`.
/// Errors  parse_... throws ParseError that names the bad piece, UnsupportedProblem for 3-D.
Conv parse_conv(std::string_view text, std::int64_t minibatch);
Gemm parse_gemm(std::string_view text);
Fc parse_fc(std::string_view text, std::int64_t minibatch);
Lstm parse_lstm(std::string_view text, std::int64_t minibatch);

/// A text that stands for `count` layers.
struct LayerTexts {
  std::string text;
  std::int64_t count = 1;
};

/// The layers of a stack l, one text for those that are alike: the first one reads slc inputs,
/// each other one the hidden state below it. Sizes are not judged here.
std::vector<LayerTexts> split_lstm_stack(std::string_view text);

std::string to_string(const Conv& conv);
std::string to_string(const Gemm& gemm);
std::string to_string(const Fc& fc);
std::string to_string(const Lstm& lstm);

}  // namespace loopbrick
