#pragma once
#include <array>
#include <cstdint>

#include "loops/contraction.h"
#include "loops/ranges.h"
#include "loops/schedule.h"

namespace loopbrick {

/// A dense copy of the part of A that the loops right of a pack(x) read: [c /
/// depth][rows][columns][depth], without the gaps of a stride where the filter has one tap, and
/// with zeros for padding where the schedule multiplies it.
class PackCopy {
 public:
  /// `step` has a pack; sizes follow from the loops left of it.
  PackCopy(const Contraction& contraction, const Step& step);

  std::int64_t elements() const;
  Access access()
      const;  ///< strides within the copy, whose first element is the first tap of the first pixel

  void copy(const float* a, const Ranges& ranges, float* to) const noexcept;

 private:
  /// Along one image direction: how many positions a range of outputs needs, and how they lie on
  /// the image.
  struct Side {
    Border border;
    std::int64_t taps = 1;
    std::int64_t most = 1;  ///< positions of the largest range
    bool compact() const { return taps == 1; }
    std::int64_t positions(std::int64_t outs) const;
    std::int64_t pixel(std::int64_t first_out, std::int64_t position) const;
  };

  void copy_line(const float* from, std::int64_t first_q, std::int64_t columns,
                 std::int64_t channels, float* to) const noexcept;

  Contraction contraction_;
  Side down_;
  Side across_;
  std::int64_t depth_ = 1;
  std::int64_t channel_blocks_ = 1;
  bool zero_rim_ = false;
};

}  // namespace loopbrick
