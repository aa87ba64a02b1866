#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "kernels/text.h"
#include "problems/descriptor.h"
#include "problems/shape_text.h"

// Height and width are parsed alike, each as a Side. A descriptor with h letters only is square,
// one with w letters only is 1-D (the height is 1 everywhere), as in benchdnn.

namespace loopbrick {
namespace {

// Sizes in pixels are bounded so that products of two of them fit in 64 bits; what follows from
// them is checked.
constexpr std::int64_t kMost = INT32_MAX;

constexpr std::array kSizes = {SizeName{"g"},
                               SizeName{"mb"},
                               SizeName{"ic"},
                               SizeName{"oc"},
                               SizeName{"ih", 1, kMost},
                               SizeName{"iw", 1, kMost},
                               SizeName{"oh"},
                               SizeName{"ow"},
                               SizeName{"kh", 1, kMost},
                               SizeName{"kw", 1, kMost},
                               SizeName{"sh", 1, kMost},
                               SizeName{"sw", 1, kMost},
                               SizeName{"ph", 0, kMost},
                               SizeName{"pw", 0, kMost},
                               SizeName{"dh", 0, kMost},
                               SizeName{"dw", 0, kMost},
                               SizeName{"id"},
                               SizeName{"od"},
                               SizeName{"kd"},
                               SizeName{"sd"},
                               SizeName{"pd", 0},
                               SizeName{"dd", 0}};

/// One spatial direction of a convolution.
struct Side {
  std::int64_t in = 1, out = 1, filter = 1, stride = 1, pad = 0, dilation = 1;

  friend bool operator==(const Side&, const Side&) = default;
};

/// The letters of one direction: 'i' and 'h' make "ih".
class Letters {
 public:
  Letters(char what, char direction) : letters_{what, direction} {}
  operator std::string_view() const { return {letters_.data(), letters_.size()}; }

 private:
  std::array<char, 2> letters_;
};

bool has(const Descriptor& sizes, char direction) {
  return std::ranges::any_of(std::string_view("iokspd"), [&](char what) {
    return sizes.find(Letters(what, direction)).has_value();
  });
}

/// Pixels of the input that one output pixel's filter spans.
std::int64_t span_of(const Side& side) { return (side.filter - 1) * side.dilation + 1; }

/// Padding behind the last pixel that `out` needs; below 0 where rows are never read.
std::int64_t pad_behind(const Side& side) {
  const std::int64_t reach =
      saturating_sum(saturating_product(side.out - 1, side.stride), span_of(side));
  return reach - side.in - side.pad;
}

/// benchdnn's padding where out is given and the padding is not: half of what is missing, as long
/// as every window still begins in the image.
std::int64_t centred_pad(Side side) {
  side.pad = 0;
  const std::int64_t pad = std::max<std::int64_t>(0, pad_behind(side) / 2);
  return pad < span_of(side) ? pad : 0;
}

std::int64_t symmetric_out(const Side& side, char direction) {
  const std::int64_t room = saturating_sum(side.in, 2 * side.pad) - span_of(side);
  if (room < 0) {
    throw ParseError(
        fmt::format("k{0}{1} with dilation spans {2} pixels, more than i{0}{3} with p{0}{4} has",
                    direction, side.filter, span_of(side), side.in, side.pad));
  }
  return room / side.stride + 1;
}

/// A given out may need other padding behind than in front, and rows that no window reaches are
/// fine; but more than one pixel beyond the symmetric padding is a typing error.
void check_out(const Side& side, char direction) {
  const std::int64_t most = saturating_sum(side.pad, std::max(span_of(side), side.stride));
  if (pad_behind(side) <= most) return;
  throw ParseError(
      fmt::format("o{0}{1} does not follow from i{0}{2} k{0}{3} s{0}{4} p{0}{5} d{0}{6}: the last "
                  "window would lie {7} pixels behind the image",
                  direction, side.out, side.in, side.filter, side.stride, side.pad,
                  side.dilation - 1, pad_behind(side)));
}

Side parse_side(const Descriptor& sizes, char direction) {
  Side side{.in = sizes.required(Letters('i', direction)),
            .filter = sizes.required(Letters('k', direction)),
            .stride = sizes.value_or(Letters('s', direction), 1),
            .dilation = sizes.value_or(Letters('d', direction), 0) + 1};
  const auto out = sizes.find(Letters('o', direction));
  const auto pad = sizes.find(Letters('p', direction));
  side.out = out.value_or(1);
  side.pad = pad ? *pad : out ? centred_pad(side) : 0;
  if (!out) side.out = symmetric_out(side, direction);
  check_out(side, direction);
  return side;
}

void refuse_depth(const Descriptor& sizes) {
  for (const char what : std::string_view("iokspd")) {
    const Letters letters(what, 'd');
    if (sizes.find(letters)) {
      throw UnsupportedProblem(
          fmt::format("'{}' makes the convolution 3-D; only 1-D and 2-D ones are known",
                      std::string_view(letters)));
    }
  }
}

void check_groups(const Conv& conv) {
  if (conv.c % conv.groups == 0 && conv.k % conv.groups == 0) return;
  throw ParseError(fmt::format("g{} does not divide ic{} and oc{}", conv.groups, conv.c, conv.k));
}

Side height(const Conv& conv) {
  return {conv.h, conv.p, conv.r, conv.stride_h, conv.pad_h, conv.dilation_h};
}

Side width(const Conv& conv) {
  return {conv.w, conv.q, conv.s, conv.stride_w, conv.pad_w, conv.dilation_w};
}

std::string filter_text(const Side& side, char direction) {
  std::string text = fmt::format("k{}{}", direction, side.filter);
  if (side.stride != 1) text += fmt::format("s{}{}", direction, side.stride);
  if (side.pad != 0 || centred_pad(side) != 0) text += fmt::format("p{}{}", direction, side.pad);
  if (side.dilation != 1) text += fmt::format("d{}{}", direction, side.dilation - 1);
  return text;
}

}  // namespace

Conv parse_conv(std::string_view text, std::int64_t minibatch) {
  const Descriptor sizes(text, kSizes);
  refuse_depth(sizes);
  const bool flat = has(sizes, 'w') && !has(sizes, 'h');
  const Side h = flat ? Side{} : parse_side(sizes, 'h');
  const Side w = has(sizes, 'w') ? parse_side(sizes, 'w') : h;
  const Conv conv{.n = sizes.value_or("mb", minibatch),
                  .c = sizes.required("ic"),
                  .h = h.in,
                  .w = w.in,
                  .k = sizes.required("oc"),
                  .p = h.out,
                  .q = w.out,
                  .r = h.filter,
                  .s = w.filter,
                  .stride_h = h.stride,
                  .stride_w = w.stride,
                  .pad_h = h.pad,
                  .pad_w = w.pad,
                  .dilation_h = h.dilation,
                  .dilation_w = w.dilation,
                  .groups = sizes.value_or("g", 1)};
  check_groups(conv);
  return conv;
}

std::string to_string(const Conv& conv) {
  const Side h = height(conv);
  const Side w = width(conv);
  std::string text = conv.groups == 1 ? "" : fmt::format("g{}", conv.groups);
  text += fmt::format("mb{}ic{}", conv.n, conv.c);
  if (h == Side{} && w != h) {
    return text + fmt::format("oc{}_iw{}ow{}", conv.k, w.in, w.out) + filter_text(w, 'w');
  }
  text += fmt::format("ih{}oc{}oh{}", h.in, conv.k, h.out) + filter_text(h, 'h');
  if (w != h) text += fmt::format("_iw{}ow{}", w.in, w.out) + filter_text(w, 'w');
  return text;
}

}  // namespace loopbrick
