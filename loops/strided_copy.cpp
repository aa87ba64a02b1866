#include "loops/strided_copy.h"

#include "kernels/text.h"

namespace loopbrick {

namespace {

/// An array of exactly four axes, and one line of it: the innermost plain axis.
struct Four {
  explicit Four(const StridedArray& array) {
    for (std::size_t i = 0; i < array.size(); ++i) axes[4 - array.size() + i] = array[i];
  }
  StridedAxis axes[4];

  std::int64_t lines() const { return axes[0].extent * axes[1].extent * axes[2].extent; }
  std::int64_t line_offset(std::int64_t line) const {
    const std::int64_t i2 = line % axes[2].extent;
    const std::int64_t i1 = line / axes[2].extent % axes[1].extent;
    const std::int64_t i0 = line / axes[2].extent / axes[1].extent;
    return axes[0].access.offset(i0) + axes[1].access.offset(i1) + axes[2].access.offset(i2);
  }
};

/// copy(plain index, own offset) for every element.
template <typename Copy>
void for_each(const StridedArray& array, int threads, Copy copy) {
  const Four four(array);
  const StridedAxis& inner = four.axes[3];
  const std::int64_t lines = four.lines();
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t line = 0; line < lines; ++line) {
    const std::int64_t own = four.line_offset(line);
    for (std::int64_t i = 0; i < inner.extent; ++i)
      copy(line * inner.extent + i, own + inner.access.offset(i));
  }
}

}  // namespace

std::int64_t last_offset(const StridedArray& array) {
  std::int64_t last = 0;
  for (const StridedAxis& axis : array) {
    if (axis.extent == 0) return -1;
    last += axis.access.offset(axis.extent - 1);
  }
  return last;
}

void scatter(const StridedArray& array, std::span<const float> plain, std::span<float> own,
             int threads) {
  for_each(array, threads, [&](std::int64_t from, std::int64_t to) {
    own[static_cast<std::size_t>(to)] = plain[static_cast<std::size_t>(from)];
  });
}

void gather(const StridedArray& array, std::span<const float> own, std::span<float> plain,
            int threads) {
  for_each(array, threads, [&](std::int64_t to, std::int64_t from) {
    plain[static_cast<std::size_t>(to)] = own[static_cast<std::size_t>(from)];
  });
}

}  // namespace loopbrick
