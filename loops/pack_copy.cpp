#include "loops/pack_copy.h"

#include <algorithm>
#include <cstring>

#include "loops/step_facts.h"

namespace loopbrick {

std::int64_t PackCopy::Side::positions(std::int64_t outs) const {
  return compact() ? outs : (outs - 1) * border.stride + (taps - 1) * border.dilation + 1;
}

std::int64_t PackCopy::Side::pixel(std::int64_t first_out, std::int64_t position) const {
  return border.input(first_out, 0) + position * (compact() ? border.stride : 1);
}

PackCopy::PackCopy(const Contraction& contraction, const Step& step)
    : contraction_(contraction),
      down_{contraction.borders[0], contraction.extent(contraction.borders[0].tap)},
      across_{contraction.borders[1], contraction.extent(contraction.borders[1].tap)},
      depth_(entry_depth(contraction, step)),
      zero_rim_(step.marks.rim == Rim::copy) {
  down_.most = down_.positions(range_before_pack(contraction, step, contraction.line));
  across_.most = across_.positions(range_before_pack(contraction, step, contraction.row));
  channel_blocks_ = (range_before_pack(contraction, step, contraction.depth) + depth_ - 1) / depth_;
}

std::int64_t PackCopy::elements() const {
  return channel_blocks_ * down_.most * across_.most * depth_;
}

Access PackCopy::access() const {
  const std::int64_t line = across_.most * depth_;
  Access access{};
  access[place(contraction_.depth)] = {1, depth_, down_.most * line};
  access[place(contraction_.line)] = {.inner = line * (down_.compact() ? 1 : down_.border.stride)};
  access[place(contraction_.row)] = {.inner =
                                         depth_ * (across_.compact() ? 1 : across_.border.stride)};
  access[place(down_.border.tap)] = {.inner = down_.compact() ? 0 : line * down_.border.dilation};
  access[place(across_.border.tap)] = {
      .inner = across_.compact() ? 0 : depth_ * across_.border.dilation};
  access[static_cast<std::size_t>(kFlattened)] = access[place(contraction_.row)];
  return access;
}

void PackCopy::copy(const float* a, const Ranges& ranges, float* to) const noexcept {
  const Range& p = ranges[place(contraction_.line)];
  const Range& q = ranges[place(contraction_.row)];
  const Range& c = ranges[place(contraction_.depth)];
  const std::int64_t lines = down_.positions(p.size());
  const std::int64_t columns = across_.positions(q.size());
  const float* image = a + contraction_.a[place(Axis::n)].offset(ranges[place(Axis::n)].begin);
  for (std::int64_t first = c.begin; first < c.end; first += depth_) {
    const std::int64_t channels = std::min(depth_, c.end - first);
    float* block = to + (first - c.begin) / depth_ * down_.most * across_.most * depth_;
    for (std::int64_t line = 0; line < lines; ++line) {
      const std::int64_t row = down_.pixel(p.begin, line);
      float* out = block + line * across_.most * depth_;
      if (row >= 0 && row < down_.border.extent) {
        copy_line(image + contraction_.a[place(contraction_.depth)].offset(first) +
                      row * down_.border.pitch,
                  q.begin, columns, channels, out);
      } else if (zero_rim_) {
        std::fill_n(out, columns * depth_, 0.0F);
      }
    }
  }
}

void PackCopy::copy_line(const float* from, std::int64_t first_q, std::int64_t columns,
                         std::int64_t channels, float* to) const noexcept {
  const std::int64_t stride = across_.compact() ? across_.border.stride : 1;
  const std::int64_t first = across_.pixel(first_q, 0);
  const std::int64_t pitch = across_.border.pitch;
  // positions whose pixel lies on the image
  const std::int64_t begin = std::clamp<std::int64_t>((stride - 1 - first) / stride, 0, columns);
  const std::int64_t end =
      first >= across_.border.extent
          ? begin
          : std::clamp<std::int64_t>((across_.border.extent - first + stride - 1) / stride, begin,
                                     columns);
  if (zero_rim_) {
    std::fill_n(to, begin * depth_, 0.0F);
    std::fill_n(to + end * depth_, (columns - end) * depth_, 0.0F);
  }
  if (stride * pitch == depth_ && channels == depth_) {
    std::memcpy(to + begin * depth_, from + (first + begin) * pitch,
                static_cast<std::size_t>((end - begin) * depth_) * sizeof(float));
    return;
  }
  for (std::int64_t i = begin; i < end; ++i) {
    std::memcpy(to + i * depth_, from + (first + i * stride) * pitch,
                static_cast<std::size_t>(channels) * sizeof(float));
  }
}

}  // namespace loopbrick
