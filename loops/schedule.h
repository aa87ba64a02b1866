#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/brgemm_spec.h"
#include "kernels/few.h"

namespace loopbrick {

/// The letters of docs/schedule.md.
enum class Axis : char {
  none = 0,
  b = 'b',
  c = 'c',
  f = 'f',
  g = 'g',
  h = 'h',
  k = 'k',
  m = 'm',
  n = 'n',
  p = 'p',
  q = 'q',
  r = 'r',
  s = 's',
  t = 't',
  w = 'w'
};

/// One level of the nest: advance `axis` (or the flattened pair axis, fused) by `step` elements a
/// round.
struct Loop {
  Axis axis = Axis::none;
  Axis fused = Axis::none;   ///< pq: the pixels of an image as one axis
  bool parallel = false;     ///< written in upper case: threads share the rounds
  bool private_sum = false;  ///< "+": a parallel summed axis, one private result per way
  std::int32_t step = 1;
  std::int16_t ways = 0;  ///< "/ways": threads along this loop of the grid; 0: dealt out flat

  friend bool operator==(const Loop&, const Loop&) = default;
};

/// A dense copy of what the loops to its right read of one operand.
struct Pack {
  std::array<char, 4> operand{};  ///< "x", "w", "dy", zero padded
  bool transposed = false;

  friend bool operator==(const Pack&, const Pack&) = default;
};

/// A loop, or a pack among the loops (then loop.axis is none).
struct Element {
  Loop loop;
  Pack pack;

  bool is_pack() const { return loop.axis == Axis::none; }
  friend bool operator==(const Element&, const Element&) = default;
};

/// One term of a call: a batch entry sums `depth` of `axis`; the batch walks what remains of it and
/// the axes in `batch`.
struct Sum {
  Axis axis = Axis::none;
  std::int32_t depth = 1;
  Few<Axis, 4> batch;

  friend bool operator==(const Sum&, const Sum&) = default;
};

enum class Rim {
  window,
  copy
};  ///< padding: left out by row windows, or multiplied in a padded pack(x)
enum class Deal { even, dynamic };
enum class Body { call, pack, elt, block };

/// Everything after the body, each only where it differs from its default.
struct Marks {
  int tile_rows = 0;  ///< tile=6x64; 0: the generator's choice
  int tile_cols = 0;
  BatchForm batch = BatchForm::offset;
  Rim rim = Rim::window;
  Axis vec = Axis::none;  ///< vector dimension; none: the natural one
  bool stream = false;
  int ahead = 0;
  Axis next =
      Axis::none;  ///< prefetch the input of the next round of the innermost loop over this axis
  Deal deal = Deal::even;
  Axis rotate = Axis::none;
  bool tree = false;
  bool post_apart = false;

  friend bool operator==(const Marks&, const Marks&) = default;
};

/// One step: loops and packs, then what their innermost round does.
struct Step {
  std::array<char, 8> name{};
  bool once = false;
  Few<Element, 12> elements;
  Body body = Body::call;
  Pack pack;         ///< body pack: the operand that all threads copy together
  Few<Sum, 2> sums;  ///< body call
  Marks marks;
  int depth = 0;         ///< how many braces stand around it; a block's steps follow it, one deeper
  bool barrier = false;  ///< ";" stands behind it

  friend bool operator==(const Step&, const Step&) = default;
};

/// How a problem is computed: steps in the order they run. Flat: no heap, so that a search can
/// visit millions.
///
/// Text    docs/schedule.md, e.g. "N k64 p q14 @ c64 * c r s tile=6x64"; parse_schedule and
/// to_string are inverses. Source  PARLOOPER's loop strings, arXiv:2304.12576, with block sizes
/// moved into the text.
struct Schedule {
  Few<Step, 6> steps;

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

std::string to_string(const Schedule& schedule);

/// Errors  throws ParseError that names the piece that is not a loop, pack, call, mark or
/// separator.
Schedule parse_schedule(std::string_view text);

}  // namespace loopbrick
