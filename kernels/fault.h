#pragma once

namespace loopbrick {

/// One-line mistakes that the generators and the loops make when the build asks for one (-D
/// LOOPBRICK_FAULT=window): the tests must notice each of them. Every ordinary build has `none`.
enum class Fault {
  none,
  tail_mask,     ///< a column tail is read and written as a whole vector
  tail_lane,     ///< the last lane of a column tail is not summed
  window,        ///< windows begin one row late
  last_entry,    ///< the last batch entry of each group is skipped
  overwrite,     ///< C is overwritten where it should be accumulated
  swapped_taps,  ///< the weights of filter row r and column s are taken for those of row s, column
                 ///< r
};

constexpr Fault kFault = Fault::LOOPBRICK_FAULT;

}  // namespace loopbrick
