#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "problems/problem.h"

namespace loopbrick {

/// A benchdnn --dir: a pass, with the bias or without.
struct Direction {
  Pass pass = Pass::fwd;
  bool bias = false;
};

/// What the options of a batch file say about the shapes behind them. Empty lists: as the shape or
/// the defaults say.
struct BatchSettings {
  std::vector<Direction> directions;
  std::vector<DType> types;
  std::vector<std::int64_t> minibatches;  ///< 0: the shape's own
  std::vector<std::int64_t> batches;      ///< gemm only: --bs
  std::vector<std::string> leading;       ///< gemm only: --ld, "40:80:64"
  Layout layout = Layout::blocked;
  Activation activation = Activation::none;
  int lstm_directions = 1;  ///< 2: each layer is one from left to right and one back
  std::map<std::string, std::string>
      refusals;  ///< option -> why no shape can be run while it holds

  /// Takes one option, "--dir=FWD_D". A value that is benchdnn's but beyond us is kept as a
  /// refusal; what only changes how benchdnn itself runs and reports is passed over.
  ///
  /// Errors  throws ParseError for an option or value that is not benchdnn's.
  void take(std::string_view option);
};

}  // namespace loopbrick
